"""The picture of a tuning: the cost of every trial over each of its parameters."""

from __future__ import annotations

import io
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from pmgt_mpi.output.table import short
from pmgt_mpi.output.tuning import Row, Tuned
from pmgt_mpi.pictures.style import BLUE, COLOURS, FAINT, drawing, plain
from pmgt_mpi.replacing import replacing

PANEL = (2.9, 2.5)
"""Inches of one panel."""

BEST = COLOURS[1]

DEAR = 100.0
"""Multiple of the least cost above which a trial is only told to be far dearer."""


def plot_tuning(folder: Path, tuned: list[Tuned], cost: str) -> Path:
    """Draw a row for each algorithm and a panel for each of its parameters."""
    rows = [one for one in tuned if one.parameters]
    columns = max((len(one.parameters) for one in rows), default=1)
    with drawing():
        size = (max(6.0, PANEL[0] * columns), PANEL[1] * max(1, len(rows)) + 0.4)
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots(max(1, len(rows)), columns, squeeze=False)
        for line, one in zip(axes, rows, strict=False):
            for axis, name in zip(line, one.parameters, strict=False):
                draw_trials(axis, one, name)
            line[0].set_ylabel("cost")
            line[0].set_title(plain(one.label))
            for axis in line[len(one.parameters) :]:
                axis.set_axis_off()
        figure.suptitle(
            f"cost: {plain(cost)}\nlarge: the best; ring: the config's own values; "
            "hollow: goal not reached, cost at its rate; cross: no nearer or too dear",
            fontsize=9,
        )
        content = io.BytesIO()
        figure.savefig(content, format="png", dpi=150)
    path = folder / "tuning.png"
    with replacing(path) as temporary:
        temporary.write_bytes(content.getvalue())
    return path


def draw_trials(axis: Axes, tuned: Tuned, name: str) -> None:
    """Draw the cost of each trial over one parameter, on logarithmic axes."""
    costs = [cost_told(tuned, row) for row in tuned.rows]
    known = [cost for cost in costs if cost is not None]
    most = DEAR * min(known, default=1.0)
    costs = [None if cost is None or cost > most else cost for cost in costs]
    top = 2 * max((cost for cost in costs if cost is not None), default=1.0)
    for row, cost in zip(tuned.rows, costs, strict=True):
        x, y = row[name], top if cost is None else cost
        if cost is None:
            axis.plot(x, y, "x", color=FAINT, ms=4)
        elif row["cost"] is None:
            axis.plot(x, y, "o", ms=3.5, mfc="none", mec=FAINT, mew=0.8)
        elif row["trial"] == tuned.best:
            axis.plot(x, y, "o", color=BEST, ms=7, mew=0)
        else:
            axis.plot(x, y, "o", color=BLUE, ms=3.5, mew=0)
        if row["trial"] == 0:
            axis.plot(x, y, "o", ms=10, mfc="none", mec=BLUE, mew=1)
    axis.set_xscale("log")
    axis.set_yscale("log")
    for scaled in (axis.xaxis, axis.yaxis):
        scaled.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=8))
        scaled.set_major_formatter(FuncFormatter(lambda value, _: short(value)))
        scaled.set_minor_formatter(NullFormatter())
    axis.tick_params(axis="x", labelsize=7)
    axis.set_xlabel(plain(name))


def cost_told(tuned: Tuned, row: Row) -> float | None:
    """Cost of a trial; at its rate, of one that was ended on its way to the goal.

    The best trial's cost over what it paid for each factor of e tells how many such
    factors there are.
    """
    best = next(one for one in tuned.rows if one["trial"] == tuned.best)
    if row["cost"] is not None:
        return float(row["cost"])
    if row["cost_per_e"] is None:
        return None
    if best["cost"] is None or best["cost_per_e"] is None:
        return None
    return float(row["cost_per_e"] * best["cost"] / best["cost_per_e"])
