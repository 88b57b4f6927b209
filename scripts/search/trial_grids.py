"""The lattice of trials: a point is a tuple of integers, one for each parameter."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import product
from math import ceil, sqrt
from typing import TYPE_CHECKING, Any

from methods import FULL, KATYUSHAX, SVRG

if TYPE_CHECKING:
    from lab_base import Lab

Point = tuple[int, ...]

ROUNDS = [1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64]

SIZE = 36
"""Points of a grid, for every method."""


def grid(method: str, centre: Point, small: bool) -> Iterator[Point]:
    """36 points about the centre (12 in a small grid), inside which it lies."""
    offsets: list[Point]
    if method in FULL:
        offsets = [(i,) for i in (range(-6, 6) if small else range(-18, 18))]
    elif method == SVRG:
        box = product((-1, 0, 1, 2), (0,) if small else (-1, 0, 1), (-1, 0, 1))
        offsets = list(box)
    else:
        # All of step, b, M at one momentum, and other momenta at three steps.
        box = product((-1, 0, 1), (0,) if small else (-1, 0, 1), (-1, 0, 1))
        offsets = [(*o, 0) for o in box]
        momenta = (1,) if small else (-1, 1, 2)
        offsets += [(i, 0, 0, k) for i in (-1, 0, 1) for k in momenta]
    for offset in sorted(offsets, key=lambda o: sum(map(abs, o))):
        point = tuple(c + o for c, o in zip(centre, offset, strict=True))
        # b = n and M = 1 are natural ends.
        if method in FULL or (point[1] >= 0 and point[2] >= 0):
            yield point


def inside(method: str, point: Point, seen: Collection[Point], small: bool) -> bool:
    """Whether a point has neighbours on both sides along every axis of its grid."""
    axes = (0,) if method in FULL else (0, 2) if small else range(len(point))
    for axis, side in product(axes, (-1, 1)):
        beside = (*point[:axis], point[axis] + side, *point[axis + 1 :])
        ended = method not in FULL and axis in (1, 2) and beside[axis] < 0
        if not ended and beside not in seen:
            return False
    return True


def options(method: str, point: Point, lab: Lab) -> dict[str, Any]:
    """Parameters of a lattice point."""
    if method in FULL:
        return {"step_size": 0.5 * 1.05 ** point[0]}
    b = max(1, round(lab.n / 2 ** point[1]))
    t0 = ceil(lab.n / b)
    eta = 1.25 ** point[0] * b / sqrt(lab.l1 * lab.l2 * lab.n)
    values = {"step_size": eta, "batch_size": b, "mix_rounds": ROUNDS[point[2]]}
    if method == KATYUSHAX:
        tau = 2 ** (point[3] / 2) * sqrt(t0 * eta * lab.sigma) / 2
        values["momentum"] = min(0.5, tau)
    return values
