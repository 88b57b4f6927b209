"""The command: ``python -m pmgt_mpi.data fetch covtype``."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from pmgt_mpi.data.fetch import DATASETS, fetch
from pmgt_mpi.errors import UserError
from pmgt_mpi.terminal import command, complain, say

DESCRIPTION = """\
Fetch a public data set into the folder PMGT_DATA, where configs look for it, and check
that it is the known file. One that is there already is only checked.
"""


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m pmgt_mpi.data",
        description=DESCRIPTION,
        epilog="exit codes: 0 it is there and right; 2 it is not.",
    )
    parser.add_argument("action", choices=["fetch"])
    parser.add_argument("dataset", choices=DATASETS)
    parser.add_argument(
        "--out", metavar="DIR", type=Path, help="folder (default: PMGT_DATA)"
    )
    parser.add_argument(
        "--url", help="where its .gz file is, if not at its public homes; file:// too"
    )
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return the exit code."""
    options = parse(arguments)
    dataset = DATASETS[options.dataset]
    try:
        folder = options.out or os.environ.get("PMGT_DATA")
        if not folder:
            raise UserError(
                f"where is {dataset.file} to go? Set PMGT_DATA to the folder of your "
                "data, or give one with --out"
            )
        path = fetch(dataset, Path(folder), [options.url] if options.url else (), say)
    except UserError as error:
        return complain(error)
    except KeyboardInterrupt:
        return 130
    say(f"{path} is there and right. {dataset.notice}")
    return 0


if __name__ == "__main__":
    command(main)
