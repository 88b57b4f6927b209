"""Which of two trials is better, and which of many is the optimum."""

from __future__ import annotations

from math import log

from lab_base import Record
from trial_grids import Point

TIE = 1.05
"""Of trials within 5 % of the least cost the one with the fewest rounds is best:
gradients level off as M grows, and as b shrinks."""


def merit(record: Record) -> tuple[int, float]:
    """Order of trials: cost if converged, else cost for a factor of e.

    What comes no nearer is worse, the worse the sooner it ended.
    """
    if record["status"] == "converged":
        return 0, record["cost"]
    if record["status"] == "diverged" or not record["relative"] < 1:
        return 2, 1 / record["cost"]
    return 1, record["cost"] / -log(record["relative"])


def optimum(seen: dict[Point, Record]) -> Point:
    """The best trial, ties decided by rounds."""
    kind, least = min(merit(record) for record in seen.values())
    close = [
        point
        for point, record in seen.items()
        if merit(record)[0] == kind and merit(record)[1] <= TIE * least
    ]
    return min(close, key=lambda point: seen[point]["rounds"])
