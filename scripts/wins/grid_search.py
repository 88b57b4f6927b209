"""The search for each method's optimum: grids that move, and successive halving."""

from __future__ import annotations

from itertools import pairwise

import experiment
from experiment import CAP, FINALISTS, RIVALS, RUNGS, RUNS, SMALL_RUNGS, TARGETS
from lab_base import Record
from lab_ranks import Ranks
from methods import KATYUSHAX, NIDS
from moving_grid import follow, median_of
from results_book import Book
from trial_grids import Point, grid, inside
from trial_order import merit, optimum
from wins_lab import OneProcess, start


class Search:
    """All methods on one number of agents and one r.

    Attributes
    ----------
    seen
        Every trial's record: the median of its runs.
    latest
        That record and the runs, as of the last time the trial was run.
    best, finals
        The optimum, and its record where that is not the one in `seen`.
    """

    def __init__(self, lab: OneProcess | Ranks, book: Book) -> None:
        self.lab, self.book, self.small = lab, book, lab.m != 20
        self.seen: dict[str, dict[Point, Record]] = {}
        self.best: dict[str, Point] = {}
        self.finals: dict[str, Record] = {}
        self.latest: dict[tuple[str, Point], tuple[Record, list[Record]]] = {}

    def trial(
        self, method: str, point: Point, budget: float, wanted: int | None = None
    ) -> Record:
        """Median of a trial's runs."""
        if wanted is None:
            wanted = 1 if method == NIDS or self.small else RUNS[self.lab.r]

        def run(number: int) -> Record:
            lab, target = self.lab, TARGETS[self.lab.r]
            case = f"{lab.how} {lab.seed} {lab.m}:{lab.r}"
            return self.book.run(lab, case, method, point, number + 1, target, budget)

        self.latest[method, point] = median_of(run, wanted)
        return self.latest[method, point][0]

    def find(self, method: str, budget: float | None = None) -> None:
        """Move the grid until the best of all trials lies inside it."""
        cap = CAP[self.lab.r] * (20 if method == NIDS else 1)
        self.seen[method], self.best[method] = follow(
            method,
            start(self.lab.m, self.lab.r, method),
            lambda point, limit: self.trial(method, point, limit),
            cap=budget or cap,
            moves=experiment.MOVES,
            fixed=budget is not None,
            small=self.small,
        )

    def settle(self, method: str) -> None:
        """Let luck out of the best of many single runs: more runs for the finalists."""
        seen = self.seen[method]
        ahead = sorted(seen, key=lambda point: merit(seen[point]))[:FINALISTS]
        budget = 2 * seen[ahead[0]]["gradients"]
        finals = {p: self.trial(method, p, budget, RUNS[2]) for p in ahead}
        self.best[method] = optimum(finals)
        self.finals[method] = finals[self.best[method]]

    def halve(self, method: str, K: float) -> None:
        """Successive halving; the grid follows its winner until that lies inside."""
        rungs = SMALL_RUNGS if self.small else RUNGS
        self.find(method, rungs[0][0] * K)
        for _ in range(experiment.MOVES):
            left = seen = self.seen[method]
            for (_, keep), (multiple, _) in pairwise(rungs):
                ahead = sorted(left, key=lambda point: merit(left[point]))[:keep]
                left = {p: self.trial(method, p, multiple * K) for p in ahead}
            best = optimum(left)
            self.best[method], self.finals[method] = best, left[best]
            if inside(method, best, seen, self.small):
                break
            for point in grid(method, best, self.small):
                if point not in seen:
                    seen[point] = self.trial(method, point, rungs[0][0] * K)

    def all(self) -> None:
        """Search for every method; the loser at r = 300 by successive halving."""
        self.find(KATYUSHAX)
        if RUNS[self.lab.r] == 1 and not self.small:
            self.settle(KATYUSHAX)
        K = self.result(KATYUSHAX)["gradients"]
        for method in RIVALS[self.lab.r]:
            if self.lab.r == 2:
                self.find(method)
            else:
                self.halve(method, K)

    def result(self, method: str) -> Record:
        """The record of the optimum."""
        return self.finals.get(method) or self.seen[method][self.best[method]]
