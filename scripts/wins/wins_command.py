"""The command: search, report, confirm."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from bernoulli_table import conditions, lower_median
from experiment import CASES, shorten
from grid_search import Search
from lab_ranks import Ranks
from mpi4py import MPI
from rank_confirmation import confirm, recall, rest
from results_book import Book
from wins_lab import OneProcess
from wins_report import report


def run_cases(
    world: Any, cases: list[tuple[int, int]], seed: int, book: Book, ranks: bool
) -> list[Search]:
    """Search case by case; rank 0 gets all of them."""
    searches: list[Search] = []
    for m, r in cases:
        if ranks:
            part = world.Split(0 if world.rank < m else MPI.UNDEFINED)
            if world.rank < m:
                lab = Ranks(part, m, r, seed)
                searches.append(Search(lab, book))
                searches[-1].all()
                lab.free()
                part.Free()
        elif world.rank == 0:
            searches.append(Search(OneProcess(m, r, seed), book))
            searches[-1].all()
        rest(world)
    return searches


def arguments_of(description: str) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="wins", description=description)
    parser.add_argument("--results", type=Path, default=Path("wins.jsonl"))
    parser.add_argument("--cases", nargs="*", help="such as 20:2 (agents and r)")
    parser.add_argument("--seed", type=int, help="of data and graph")
    parser.add_argument("--confirm", action="store_true")
    parser.add_argument("--confirmed", type=Path, help="saved output of --confirm")
    parser.add_argument("--write", type=Path)
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    if arguments.confirm and arguments.confirmed:
        parser.error("give --confirm or --confirmed, not both")
    return arguments


def main(description: str) -> int:
    """Search, report, confirm."""
    arguments = arguments_of(description)
    world = MPI.COMM_WORLD
    kappas = conditions() if world.rank == 0 else {}
    chosen = lower_median(kappas) if world.rank == 0 else 0
    seed = world.bcast(chosen if arguments.seed is None else arguments.seed)
    if arguments.quick:
        shorten()
    cases = CASES[:2] if arguments.quick else CASES
    if arguments.cases:
        cases = [(int(c.split(":")[0]), int(c.split(":")[1])) for c in arguments.cases]
    ranks = world.size > 1 and not arguments.confirm
    if ranks and max(m for m, _ in cases) > world.size:
        raise SystemExit(f"start as many ranks as agents: mpirun -n {cases[0][0]}")
    book = Book(arguments.results, write=world.rank == 0)
    world.Barrier()
    searches = run_cases(world, cases, seed, book, ranks)
    lines: list[str] = []
    met = True
    if world.rank == 0:
        lines, met = report(searches, ranks, seed, kappas)
    if arguments.confirm:
        more, same = confirm(world, searches, seed)
        lines, met = lines + more, met and same
    elif world.rank == 0 and arguments.confirmed:
        more, same = recall(arguments.confirmed, searches)
        lines, met = lines + more, met and same
    elif world.rank == 0 and not ranks:
        lines += ["", "The optima were not run again on MPI ranks."]
    if world.rank == 0:
        print("\n".join(lines), flush=True)
        if arguments.write:
            arguments.write.write_text("\n".join(lines) + "\n")
    return 0 if met or arguments.quick else 1
