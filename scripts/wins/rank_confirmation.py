"""The optima once more, on MPI ranks: the same gradients, rounds and status."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import numpy as np
from experiment import RUNGS, TARGETS
from grid_search import Search
from lab_ranks import Ranks
from methods import KATYUSHAX
from moving_grid import SLACK
from wins_lab import OneProcess

CELLS = 8
"""Of a row: r, method, gradients, rounds, suboptimality twice, seconds, same."""


def rest(world: Any) -> None:
    """Wait for all ranks without using a core: a rank that waits in MPI does."""
    request = world.Ibarrier()
    while not request.Test():
        time.sleep(0.02)


def confirm(world: Any, searches: list[Search], seed: int) -> tuple[list[str], bool]:
    """Run the optima on ranks: gradients, rounds and suboptimality must be the same."""
    todo = [
        (s.lab.r, method, s.result(method), s.result(KATYUSHAX)["gradients"])
        for s in searches
        if s.lab.m == world.size
        for method in s.best
    ]
    rows = []
    for r, method, best, K in world.bcast(todo):
        losing = r == 300 and method != KATYUSHAX
        budget = RUNGS[-1][0] * K if losing else SLACK * best["gradients"]
        run, values = best["run"], best["values"]
        trial = (method, values, run, TARGETS[r], budget)
        alone = OneProcess(world.size, r, seed).run(*trial) if world.rank == 0 else {}
        rest(world)
        lab = Ranks(world, world.size, r, seed)
        found = lab.run(*trial)
        lab.free()
        if world.rank == 0:
            equal = all(alone[k] == found[k] for k in ("status", "gradients", "rounds"))
            equal &= bool(np.isclose(alone["relative"], found["relative"], rtol=1e-3))
            rows.append(
                f"| {r} | {method} | {found['gradients']:,.2f} | {found['rounds']:,} "
                f"| {alone['relative']:.5e} | {found['relative']:.5e} "
                f"| {found['seconds']:.1f} | {'yes' if equal else 'NO'} |"
            )
            print(rows[-1], flush=True)
    return section(rows, world.size), all(cells(row)[-1] == "yes" for row in rows)


def recall(path: Path, searches: list[Search]) -> tuple[list[str], bool]:
    """Take the confirmation from the saved output of an earlier one.

    It must be of these optima: all of them, with the gradients and rounds that the
    results file has.
    """
    text = path.read_text()
    size = re.search(r"on (\d+) MPI ranks", text)
    rows = {
        (cells(line)[0], cells(line)[1]): line
        for line in text.splitlines()
        if len(cells(line)) == CELLS and cells(line)[0].isdigit()
    }
    agents = int(size[1]) if size else 0
    expected = {
        (str(s.lab.r), method): s.result(method)
        for s in searches
        if s.lab.m == agents
        for method in s.best
    }
    if not expected or rows.keys() != expected.keys():
        raise SystemExit(f"{path} does not confirm these optima; run --confirm again")
    for (r, method), best in expected.items():
        costs = [f"{best['gradients']:,.2f}", f"{best['rounds']:,}"]
        if cells(rows[r, method])[2:4] != costs:
            raise SystemExit(
                f"{path} confirms another optimum of {method} at r = {r}; "
                "run --confirm again"
            )
    listed = list(rows.values())
    return section(listed, agents), all(cells(row)[-1] == "yes" for row in listed)


def cells(line: str) -> list[str]:
    """The cells of a table's row."""
    return [cell.strip() for cell in line.split("|")[1:-1]]


def section(rows: list[str], agents: int) -> list[str]:
    """What the document says of the confirmation."""
    same = sum(cells(row)[-1] == "yes" for row in rows)
    return [
        "",
        f"The optima at m = {agents} again on {agents} MPI ranks: for {same} of "
        f"{len(rows)} status, gradients and rounds are",
        "identical, and suboptimality agrees to 1e-3 (`same`), over the whole run:",
        "",
        "| r | method | gradients / n | rounds | relative suboptimality | on ranks "
        "| seconds | same |",
        "|---|---|---|---|---|---|---|---|",
        *rows,
    ]
