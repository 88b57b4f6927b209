"""One panel: a measure of success against a cost, one curve for each algorithm."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import EngFormatter, LogLocator, NullLocator

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
}

BOUND = "theory_bound"
"""Key of a record with the bound on F − F* that theory gives, where one was asked."""


def draw_curves(axis: Axes, curves: Sequence[Curve], cost: str, measure: str) -> None:
    """Draw a curve for each algorithm, on logarithmic axes where that can be.

    The objective may have any sign; a cost is on a linear axis unless the costs are
    further apart than 1 : 100.
    """
    every = [x for curve in curves for x, _ in curve.points(cost, measure)]
    log_x, log_y = spread(every) > 100, measure != "objective"

    def shown(points: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
        # Zero, or what has reached the rounding error, is on no logarithmic axis.
        return [
            (x, y) for x, y in points if (x > 0 or not log_x) and (y > 0 or not log_y)
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
    _scale(axis, log_x=log_x, log_y=log_y, cost=cost)
    _frame(axis, curves, cost, measure)
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


def _frame(axis: Axes, curves: Sequence[Curve], cost: str, measure: str) -> None:
    """Look at where the steps are, and let what diverges leave through the top."""
    paid = [
        record[cost]
        for curve in curves
        for record in curve.records
        if record.get("step", 0) > 0 and record[cost] > 0
    ]
    if axis.get_xscale() == "log" and paid:
        axis.set_xlim(left=min(paid) / 1.5)
    calm = [
        y
        for curve in curves
        if curve.status != "diverged"
        for _, y in curve.points(cost, measure)
        if y > 0
    ]
    if axis.get_yscale() == "log" and calm:
        low, high = axis.get_ylim()
        axis.set_ylim(max(low, min(calm) / 100), min(high, 100 * max(calm)))


def _scale(axis: Axes, *, log_x: bool, log_y: bool, cost: str) -> None:
    if log_y:
        axis.set_yscale("log")
        axis.yaxis.set_major_locator(LogLocator(numticks=7))
        axis.yaxis.set_minor_locator(NullLocator())
    if log_x:
        axis.set_xscale("log")
        axis.xaxis.set_major_locator(LogLocator(numticks=6))
        axis.xaxis.set_minor_locator(NullLocator())
    elif cost != "seconds":
        axis.xaxis.set_major_formatter(EngFormatter(sep=""))
