"""One panel: a measure of success against a cost, one curve for each algorithm."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import EngFormatter, FixedLocator, LogLocator, NullLocator
from numpy.typing import NDArray

from pmgt_mpi.pictures.curves import Curve
from pmgt_mpi.pictures.style import BOUND_DASHES, plain

COST_NAMES = {
    "gradients": "component gradients per agent",
    "gradients_paper": "gradients per agent, as the paper counts",
    "rounds": "gossip rounds",
    "messages": "messages, all agents",
    "bytes": "bytes sent, all agents",
    "seconds": "seconds",
    "cost": "gradients + weight × rounds",
}

MEASURE_NAMES = {
    "relative_suboptimality": "relative suboptimality",
    "objective": "objective",
    "consensus": "consensus error",
    "gradient_mapping": "gradient mapping",
}

BOUND = "theory_bound"
"""Key of a record with the bound on F − F* that theory gives, where one was asked."""


def draw_curves(axis: Axes, curves: Sequence[Curve], cost: str, measure: str) -> None:
    """Draw a curve for each algorithm, on logarithmic axes where that can be.

    The objective may have any sign; a cost is on a linear axis unless the costs of
    steps are further apart than 1 : 100. What is zero is drawn where an axis says 0:
    the cost of the start, and the consensus error of agents that agree.
    """
    paid = [x for curve in curves for step, x in curve.points("step", cost) if step > 0]
    log_x, log_y = spread(paid) > 100, measure != "objective"

    def shown(points: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
        # A suboptimality that has reached the rounding error may have any sign.
        return [
            (x, y)
            for x, y in points
            if y > 0 or not log_y or (y == 0 and measure == "consensus")
        ]

    for curve in curves:
        if points := shown(curve.points(cost, measure)):
            x, y = zip(*points, strict=True)
            # A line through a single point cannot be seen.
            marker = "o" if len(points) == 1 else None
            (line,) = axis.plot(
                x, y, color=curve.colour, label=plain(curve.name), marker=marker
            )
            if curve.dashes:
                line.set_dashes(curve.dashes)
        if measure == "relative_suboptimality" and (
            points := shown(bound(curve, cost))
        ):
            x, y = zip(*points, strict=True)
            (line,) = axis.plot(x, y, color=curve.colour, lw=1, alpha=0.8)
            line.set_dashes(BOUND_DASHES)
            line.set_label("_bound")
    drawn = [line.get_xydata() for line in axis.get_lines()]
    xs, ys = np.concatenate(drawn).T if drawn else np.empty((2, 0))
    if log_x and xs.size:
        least = min(x for x in paid if x > 0)
        _log_scale(axis.set_xscale, axis.xaxis, xs, least, ticks=6)
        if axis.get_xscale() == "symlog":
            axis.update_datalim([(0, 0)], updatey=False)  # a start may have cost a bit
    elif cost != "seconds":
        axis.xaxis.set_major_formatter(EngFormatter(sep=""))
    if log_y and (ys > 0).any():
        _log_scale(axis.set_yscale, axis.yaxis, ys, ys[ys > 0].min(), ticks=7)
        _cut(axis, curves, cost, measure)
    axis.set_xlabel(COST_NAMES[cost])


def bound(curve: Curve, cost: str) -> list[tuple[float, float]]:
    """Theory's bound on F − F*, on the scale of the relative suboptimality."""
    for record in curve.records:
        absolute, relative = (
            record.get("suboptimality"),
            record["relative_suboptimality"],
        )
        if absolute and relative:
            scale = relative / absolute
            return [(x, scale * y) for x, y in curve.points(cost, BOUND)]
    return []


def spread(costs: Iterable[float]) -> float:
    """How many times the largest cost exceeds the smallest positive one."""
    positive = [cost for cost in costs if cost > 0]
    return max(positive) / min(positive) if positive else 1.0


def _log_scale(
    set_scale: Callable[..., None],
    scaled: Axis,
    values: NDArray[Any],
    least: float,
    ticks: int,
) -> None:
    """Set a scale that is logarithmic from the power of ten below `least` on.

    If there are values below that, such as zero, they lie on a short linear piece.
    """
    low, high = math.floor(math.log10(least)), math.floor(math.log10(values.max()))
    threshold = 10.0**low
    if values.min() < threshold:
        share = max(0.5, 0.12 * (high + 1 - low))  # of it, in powers of ten
        set_scale("symlog", linthresh=threshold, linscale=share)
        powers = np.arange(low, high + 1, -(-(high + 1 - low) // ticks))
        scaled.set_major_locator(FixedLocator([0.0, *10.0**powers]))
    else:
        set_scale("log")
        scaled.set_major_locator(LogLocator(numticks=ticks))
    scaled.set_minor_locator(NullLocator())


def _cut(axis: Axes, curves: Sequence[Curve], cost: str, measure: str) -> None:
    """Look at what converges; what diverges leaves through the top."""
    calm = [
        y
        for curve in curves
        if curve.status != "diverged"
        for _, y in curve.points(cost, measure)
        if y > 0
    ]
    if calm:
        low, high = axis.get_ylim()
        if axis.get_yscale() == "log":
            low = max(low, min(calm) / 100)
        axis.set_ylim(low, min(high, 100 * max(calm)))
