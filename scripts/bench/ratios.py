"""Interleaved measurement, and what is told of it: medians of ratios, their spread."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import numpy as np


def interleave(
    comm: Any, contenders: dict[str, Callable[[], float]], repeats: int
) -> dict[str, list[float]]:
    """Run A B C A B C …; the seconds of each are the slowest rank's."""
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(repeats):
        for name, run in contenders.items():
            comm.Barrier()
            seconds[name].append(max(comm.allgather(run())))
    return seconds


def fastest(seconds: dict[str, list[float]], prefix: str) -> str | None:
    """The contender with that prefix whose median is smallest."""
    names = [name for name in seconds if name.startswith(prefix)]
    return min(names, key=lambda name: np.median(seconds[name]), default=None)


def spread(values: Any) -> dict[str, float]:
    """Median and quartiles."""
    low, middle, high = np.percentile(values, [25, 50, 75])
    return {"median": float(middle), "low": float(low), "high": float(high)}


def compare(
    seconds: dict[str, list[float]], base: str | None, unit: float
) -> dict[str, Any]:
    """Microseconds of one unit of work for each, and ratios to the base.

    Parameters
    ----------
    unit
        How many rounds, steps or epochs one measurement held.
    """
    told: dict[str, Any] = {"base": base, "microseconds": {}, "ratio": {}}
    for name, values in seconds.items():
        told["microseconds"][name] = spread(np.array(values) / unit * 1e6)
        if base is not None:
            told["ratio"][name] = spread(np.array(values) / np.array(seconds[base]))
    return told


def tell(comm: Any, result: Any) -> None:
    """Write the result as the last line, from the first rank."""
    if comm.rank == 0:
        sys.stdout.write("\n" + json.dumps(result) + "\n")
        sys.stdout.flush()
