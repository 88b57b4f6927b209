"""A grid that moves until the best of all its trials lies inside it."""

from __future__ import annotations

from collections.abc import Callable

from lab_base import Record
from trial_grids import Point, grid, inside
from trial_order import merit, optimum

SLACK = 1.25
"""A run ends when it has used this multiple of the best trial's cost so far."""


def follow(
    method: str,
    centre: Point,
    trial: Callable[[Point, float], Record],
    *,
    cap: float,
    moves: int,
    fixed: bool = False,
    small: bool = False,
) -> tuple[dict[Point, Record], Point]:
    """Return every trial's record, and the best of them.

    Parameters
    ----------
    centre
        Where the grid is at first.
    trial
        Runs a trial with a budget, in n.
    cap
        The budget while no trial has converged.
    moves
        Times that the grid may move.
    fixed
        Whether all trials get the cap, whatever another has reached.
    small
        Whether the grid is the small one.
    """
    seen: dict[Point, Record] = {}
    least = cap / SLACK
    for _ in range(moves):
        for point in grid(method, centre, small):
            if point not in seen:
                seen[point] = trial(point, cap if fixed else SLACK * least)
                if seen[point]["status"] == "converged":
                    least = min(least, seen[point]["cost"])
        centre = optimum(seen)
        if inside(method, centre, seen, small):
            break
    return seen, centre


def worst_of(run: Callable[[int], Record], wanted: int) -> Record:
    """Return the worst of a trial's runs; one that does not converge is the last."""
    worst = run(0)
    for number in range(1, wanted):
        if worst["status"] != "converged":
            break
        worst = max(worst, run(number), key=merit)
    return worst


def median_of(run: Callable[[int], Record], wanted: int) -> tuple[Record, list[Record]]:
    """Return the median of a trial's runs, and them; `run` takes the run's number.

    A third is not needed if two are too long.
    """
    runs: list[Record] = []
    for number in range(wanted):
        runs.append(run(number))
        if sum(record["status"] != "converged" for record in runs) > wanted // 2:
            break
    runs.sort(key=merit)
    return runs[min(wanted // 2, len(runs) - 1)], runs
