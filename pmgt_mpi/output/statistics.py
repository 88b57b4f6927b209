"""Medians, quartiles and ratios of runs, some of which may never have reached the goal.

What was not reached has cost infinity: it takes its place among the others, and where a
median or a quartile falls on it, that is infinite too.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, inf, isfinite, log
from typing import NamedTuple

import numpy as np

LEAST_DRAWS = 6
"""Fewer independent draws give no verdict."""

RESAMPLES = 10_000
CONFIDENCE = 0.95


class Spread(NamedTuple):
    """Lower quartile, median and upper quartile."""

    low: float
    median: float
    high: float


def spread(values: Sequence[float]) -> Spread:
    """Quartiles and median of at least one value, linear between the values."""
    return Spread(*(quantile(values, share) for share in (0.25, 0.5, 0.75)))


def quantile(values: Sequence[float], share: float) -> float:
    """Return the value below which a share of all lies."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    below = int(place)
    part = place - below
    if part == 0:
        return ordered[below]
    low, high = ordered[below : below + 2]
    return low + part * (high - low) if isfinite(high) else inf


class Ratio(NamedTuple):
    """How many times what another costs one costs, over independent draws.

    Attributes
    ----------
    mean
        Geometric mean over the draws in which both have reached the goal; None if
        there are none.
    interval
        In which it lies with `CONFIDENCE`; None where there is no verdict.
    draws, missing
        Draws that it is made of, and those in which one of the two has no cost.
    """

    mean: float | None
    interval: tuple[float, float] | None
    draws: int
    missing: int

    @property
    def verdict(self) -> str:
        """``more``, ``less`` or ``open``; nothing where there is no interval."""
        if self.interval is None:
            return ""
        low, high = self.interval
        return "more" if low > 1 else "less" if high < 1 else "open"


def ratio(pairs: Sequence[Sequence[tuple[float, float]]], seed: int = 0) -> Ratio:
    """Compare two costs that were paid in the same draws.

    Parameters
    ----------
    pairs
        For each independent draw the two costs in each of its streams, whose ratios
        are averaged first: streams of one draw are not independent.
    seed
        Of the bootstrap over the draws, so that the interval is the same every time.
    """
    logs, missing = [], 0
    for streams in pairs:
        if all(0 < cost < inf for pair in streams for cost in pair):
            logs.append(sum(log(one / other) for one, other in streams) / len(streams))
        else:
            missing += 1
    if not logs:
        return Ratio(None, None, 0, missing)
    mean = exp(sum(logs) / len(logs))
    if missing or len(logs) < LEAST_DRAWS:
        return Ratio(mean, None, len(logs), missing)
    rng = np.random.default_rng(seed)
    chosen = rng.integers(len(logs), size=(RESAMPLES, len(logs)))
    means = np.array(logs)[chosen].mean(axis=1)
    tail = (1 - CONFIDENCE) / 2
    low, high = np.exp(np.quantile(means, (tail, 1 - tail))).tolist()
    return Ratio(mean, (low, high), len(logs), 0)
