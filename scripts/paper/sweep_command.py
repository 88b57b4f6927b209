"""``python scripts/paper sweep``: run the declared sweep, or resume it."""

from __future__ import annotations

import argparse
from pathlib import Path

from config_files import write_configs
from declared import DECLARED, ROOT, TABLE, read_sweep
from results_book import Book
from row_lab import RowLab
from sweep_search import search
from sweep_table import merged, read_table, row_of, table_text

EPOCHS = 1
"""Epochs between evaluations, of the methods that have epochs."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Options of the command line."""
    parser.add_argument(
        "problems", nargs="*", metavar="PROBLEM", help="of the sweep; all if not given"
    )
    parser.add_argument(
        "--trials",
        type=Path,
        default=ROOT / "runs" / "sweep.jsonl",
        help="file with a line for each run; what is in it is not run again",
    )
    parser.add_argument("--declared", type=Path, default=DECLARED)
    parser.add_argument("--table", type=Path, default=TABLE)
    parser.add_argument(
        "--configs", type=Path, help="folder of the configs (default: configs/paper)"
    )


def run(options: argparse.Namespace) -> int:
    """Search problem by problem; the table and the configs grow as results come."""
    sweep = read_sweep(options.declared)
    names = [case.name for case in sweep.cases]
    unknown = set(options.problems) - set(names)
    if unknown:
        raise SystemExit(f"no problem {unknown.pop()!r}; expected {', '.join(names)}")
    options.trials.parent.mkdir(parents=True, exist_ok=True)
    book = Book(options.trials, write=True)
    order = [(name, method) for name in names for method in sweep.methods]
    rows = read_table(options.table)
    for case in sweep.cases:
        if options.problems and case.name not in options.problems:
            continue
        lab = RowLab(
            sweep.config(case),
            sweep.agents,
            (case.every, EPOCHS),
            weight=sweep.weight,
        )
        for method in sweep.methods:
            found = search(sweep, case, method, lab, book)
            rows = merged(rows, [row_of(case, found)], order)
            options.table.write_text(table_text(rows))
            print(table_text(rows[-1:]).splitlines()[-1], flush=True)
    write_configs(sweep, rows, options.configs)
    return 0
