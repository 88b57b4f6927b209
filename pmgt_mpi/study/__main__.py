"""The command: ``mpirun -n m python -m pmgt_mpi.study --config FILE --seeds 10``."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from pmgt_mpi.command_line import Parser, as_it_is, read_options
from pmgt_mpi.entrance import Work, enter
from pmgt_mpi.terminal import command
from pmgt_mpi.version import __version__

DESCRIPTION = """\
Run every algorithm of a config on many draws of data, graph and chance, in one job:
what two runs share is set up once. It leaves one table (median and quartiles), pictures
with bands, and the ratios between the methods, paired by draw, with intervals.

  mpirun -n 4 python -m pmgt_mpi.study --config configs/quickstart.toml --seeds 10
  mpirun -n 4 python -m pmgt_mpi.study --config configs/quickstart.toml --seeds 6 \\
      --over data.seed,network.seed --streams 2 --grid mixing.rounds=2,4,8 --out study

Given again with the same --out it does what is missing, after a kill or with more
seeds.
"""

EPILOG = """\
exit codes: 0 done; 1 a rank or a disk failed; 2 wrong input; 4 an agent was stuck; 75
  interrupted: give the same command again, with --out.
A run that has ended the whole job twice is left out and marked as failed.
"""


def parse(
    arguments: list[str] | None, leave: Callable[[int], int] = as_it_is
) -> argparse.Namespace:
    """Read the command line."""
    parser = Parser(
        leave,
        prog="python -m pmgt_mpi.study",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--config", metavar="FILE", type=Path, required=True, help="TOML file to run")
    add("--seeds", metavar="N", type=int, required=True, help="draws: seeds 1 to N")
    add(
        "--over",
        metavar="KEYS",
        default="run.seed",
        help="keys that get the draw's seed (default: run.seed, from which all chance "
        "comes), such as data.seed,network.seed",
    )
    add(
        "--streams",
        metavar="K",
        type=int,
        help="runs of each draw, with run.seed = 1 to K on the same data and graph",
    )
    add(
        "--grid",
        metavar="SECTION.KEY=V1,V2",
        action="append",
        default=[],
        help="values of a key, each of which every draw gets; several make a product",
    )
    add(
        "--set",
        metavar="SECTION.KEY=VALUE",
        action="append",
        default=[],
        help="override a key of the config, as in pmgt_mpi.run",
    )
    add(
        "--out",
        metavar="DIR",
        type=Path,
        help="folder of the study, made or continued (default: a new "
        "runs/NAME-study-DATE-TIME)",
    )
    add(
        "--format",
        choices=("text", "csv", "latex", "markdown"),
        default="text",
        help="of the table that is printed at the end",
    )
    add("--allow-plugins", action="store_true", help="as in pmgt_mpi.run")
    add("--version", action="version", version=__version__)
    return read_options(parser, arguments, check)


def check(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """Refuse numbers that make no study."""
    for name in ("seeds", "streams"):
        value = getattr(options, name)
        if value is not None and value < 1:
            parser.error(f"--{name} {value}: expected a number from 1 on")


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return the exit code."""
    return enter(parse, _load, arguments)


def _load() -> Work:
    from pmgt_mpi.study.command import study_command

    return study_command


if __name__ == "__main__":
    command(main)
