"""``python scripts/paper draw``: the pictures and the page of finished runs."""

from __future__ import annotations

import argparse
from pathlib import Path

from declared import TABLE, read_sweep
from figures import draw_figures
from reproduced import DATA, RATIOS, read_experiments
from reproduction_page import page
from sweep_table import read_table

from pmgt_mpi.errors import UserError
from pmgt_mpi.replacing import replacing

NAME = "reproduction"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Options of the command line."""
    parser.add_argument(
        "runs", type=Path, help="folder with PROBLEM/seed-N, as reproduce.sh makes it"
    )
    parser.add_argument(
        "--out", type=Path, help="folder of reproduction.md (default: that of the runs)"
    )
    parser.add_argument(
        "--weight",
        type=float,
        default=100.0,
        help="gradients that a round counts as in the weighted cost (default 100)",
    )


def run(options: argparse.Namespace) -> int:
    """Draw what there is; at least one run must have ended."""
    out = options.out or options.runs
    try:
        experiments = read_experiments(options.runs, options.weight)
        if not experiments:
            names = f"{next(iter(DATA))}-r{RATIOS[0]}"
            raise UserError(
                f"{options.runs} holds no finished run such as {names}/seed-1; run "
                "bash scripts/reproduce.sh first"
            )
        pictures = draw_figures(out / NAME, experiments, options.weight)
    except UserError as error:
        print(f"reproduce: {error}")
        return error.exit_code
    rows = read_table(TABLE)
    text = page(experiments, pictures, rows, read_sweep(), options.weight, NAME)
    path = out / f"{NAME}.md"
    with replacing(path) as temporary:
        temporary.write_text(text)
    print(f"page: {path}")
    return 0
