"""The picture of a tuning: the cost of every trial over each of its parameters."""

from __future__ import annotations

import io
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, LogLocator, NullFormatter

from pmgt_mpi.output.tuning import Tuned
from pmgt_mpi.pictures.style import BLUE, COLOURS, FAINT, drawing, plain
from pmgt_mpi.replacing import replacing

PANEL = (2.9, 2.5)
"""Inches of one panel."""

BEST = COLOURS[1]


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
            f"cost: {plain(cost)}; large: the best; ring: the config's own values; "
            "cross: goal not reached",
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
    reached = [row for row in tuned.rows if row["cost"] is not None]
    top = 2 * max((row["cost"] for row in reached), default=1.0)
    for row in tuned.rows:
        x = row[name]
        if row["cost"] is None:
            axis.plot(x, top, "x", color=FAINT, ms=4)
        else:
            axis.plot(x, row["cost"], "o", color=BLUE, ms=3.5, mew=0)
        if row["trial"] == 0:
            y = top if row["cost"] is None else row["cost"]
            axis.plot(x, y, "o", ms=8, mfc="none", mec=BLUE, mew=1)
    for row in reached:
        if row["trial"] == tuned.best:
            axis.plot(row[name], row["cost"], "o", color=BEST, ms=7, mew=0)
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.yaxis.set_major_formatter(EngFormatter(sep=""))
    axis.yaxis.set_minor_formatter(NullFormatter())
    axis.set_xlabel(plain(name))
