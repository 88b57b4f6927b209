"""The search for one method's best parameters on one problem."""

from __future__ import annotations

from dataclasses import dataclass

from declared import Case, Sweep
from lab_base import Lab, Record
from methods import FULL
from moving_grid import follow, worst_of
from results_book import Book
from trial_grids import Point, grid, inside
from trial_order import merit, optimum

PATIENCE = 4.0
"""A finalist's run ends when it has used this multiple of the best first run's cost."""


@dataclass(frozen=True)
class Found:
    """What a search has found.

    Attributes
    ----------
    seen
        The first run of every trial.
    finals
        The worst of the finalists' runs.
    best
        The best of these; it lies inside the grid, or the grid has moved its last time.
    """

    method: str
    seen: dict[Point, Record]
    finals: dict[Point, Record]
    best: Point

    @property
    def within(self) -> bool:
        """Whether the best has neighbours on both sides along every axis."""
        return inside(self.method, self.best, self.seen, small=False)

    @property
    def record(self) -> Record:
        """Costs and parameters of the best."""
        return self.finals[self.best]

    @property
    def diverges(self) -> bool:
        """Whether no trial came nearer to the minimiser."""
        return all(merit(record)[0] == 2 for record in self.seen.values())


def search(sweep: Sweep, case: Case, method: str, lab: Lab, book: Book) -> Found:
    """Move the grid by single runs, then let more runs of the best ones decide.

    The best of many single runs is lucky, and may be one that diverges on the next
    seed: so the finalists run with all seeds, and the one whose worst run is best wins.
    The grid follows it until it lies inside. Methods of full gradients draw nothing,
    and run once.
    """

    def runs(point: Point, budget: float, wanted: int) -> Record:
        def run(number: int) -> Record:
            seed = sweep.seeds[number]
            return book.run(lab, case.name, method, point, seed, case.target, budget)

        return worst_of(run, wanted)

    cap = case.full_cap if method in FULL else case.cap
    seeds = 1 if method in FULL else len(sweep.seeds)
    seen, _ = follow(
        method,
        case.start[method],
        lambda point, budget: runs(point, budget, 1),
        cap=cap,
        moves=sweep.moves,
    )
    for _ in range(sweep.moves):
        ahead = sorted(seen, key=lambda point: merit(seen[point]))[: sweep.finalists]
        best = seen[ahead[0]]
        budget = PATIENCE * best["cost"] if best["status"] == "converged" else cap
        finals = {point: runs(point, budget, seeds) for point in ahead}
        found = Found(method, seen, finals, optimum(finals))
        missing = [p for p in grid(method, found.best, small=False) if p not in seen]
        if found.within or not missing:
            break
        seen |= {point: runs(point, budget, 1) for point in missing}
    return found
