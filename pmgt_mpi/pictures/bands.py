"""Bands: the median and the quartiles, over many runs, of the cost to reach a level.

A run that never comes down to a level has an infinite cost there. So the median ends
where half of the runs end, and the band is open to the right where a quarter of them
has ended.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray

from pmgt_mpi.output.series import Result
from pmgt_mpi.output.statistics import quantile
from pmgt_mpi.output.study import COSTS, Group
from pmgt_mpi.pictures.curves import Curve, looks
from pmgt_mpi.pictures.labels import label_curves, legend_below
from pmgt_mpi.pictures.panel import COST_NAMES, MEASURE_NAMES, draw_curves
from pmgt_mpi.pictures.pictures import PANEL, Picture, new_figure, save_picture
from pmgt_mpi.pictures.style import drawing
from pmgt_mpi.replacing import replacing
from pmgt_mpi.terminal import printable

Array = NDArray[Any]

LEVELS = 200
"""Of the measure, at which costs are compared."""

LEAST = 1e-17
"""A suboptimality that has reached the rounding error may have any sign."""

FURTHEST = 1e6
"""Multiple of the largest cost at which an open band ends, far out of sight."""


def plot_study(folder: Path, groups: Sequence[Group]) -> list[Path]:
    """Draw bands against gradients, rounds and seconds: a file for each cell."""
    cells = cells_of(groups)
    paths = []
    for number, (title, inside) in enumerate(cells, 1):
        with drawing():
            figure = Figure(figsize=(12, 4), layout="constrained")
            FigureCanvasAgg(figure)
            axes = figure.subplots(1, len(COSTS), sharey=True)
            for axis, cost in zip(axes, COSTS, strict=True):
                draw_bands(axis, inside, cost)
            axes[0].set_ylabel(MEASURE_NAMES[measure_of(inside)])
            if title:
                figure.suptitle(title, fontsize=11)
            legend_below(figure)
            content = io.BytesIO()
            figure.savefig(content, format="png", dpi=150)
        path = folder / ("bands.png" if len(cells) == 1 else f"bands-{number}.png")
        with replacing(path) as temporary:
            temporary.write_bytes(content.getvalue())
        paths.append(path)
    return paths


def draw_study_report(folder: Path, groups: Sequence[Group]) -> list[Picture]:
    """Draw each panel by itself, for the page of a report."""
    pictures = []
    cells = cells_of(groups)
    for number, (title, inside) in enumerate(cells, 1):
        for cost in COSTS:
            with drawing():
                figure, axis = new_figure(PANEL)
                draw_bands(axis, inside, cost)
                axis.set_ylabel(MEASURE_NAMES[measure_of(inside)])
                if not label_curves(figure, axis):
                    legend_below(figure)
                stem = f"bands-{number}-{cost}" if len(cells) > 1 else f"bands-{cost}"
                svg = save_picture(figure, folder, stem)
            alt = f"{MEASURE_NAMES[measure_of(inside)]} against {COST_NAMES[cost]}"
            pictures.append(Picture("curves", stem, alt, svg, note=title))
    return pictures


def cells_of(groups: Sequence[Group]) -> list[tuple[str, list[Group]]]:
    """Groups with the same values of the grid, and these values as a title."""
    cells: dict[str, list[Group]] = {}
    for group in groups:
        values = (f"{key} = {value}" for key, value in group.cell.items())
        cells.setdefault(printable(", ".join(values)), []).append(group)
    return list(cells.items())


def measure_of(groups: Sequence[Group]) -> str:
    """What is drawn: the relative suboptimality, or what is known without F*."""
    relative = "relative_suboptimality"
    traces = [run["trace"] for group in groups for run in group.runs if "trace" in run]
    known = any(value is not None for trace in traces for value in trace[relative])
    return relative if known or not traces else "gradient_mapping"


def draw_bands(axis: Axes, groups: Sequence[Group], cost: str) -> None:
    """Draw the median of each group as a curve, and its quartiles as a band."""
    measure = measure_of(groups)
    styles = looks([group.label for group in groups])
    found = [bands(group.runs, cost, measure) for group in groups]
    curves = []
    for group, (colour, dashes), (levels, _, median, _) in zip(
        groups, styles, found, strict=True
    ):
        records = [
            {"step": k, cost: x, measure: y}
            for k, (x, y) in enumerate(zip(median, levels, strict=True))
            if np.isfinite(x)
        ]
        name = printable(group.label)
        curves.append(Curve(name, group.label, colour, dashes, records, status=""))
    draw_curves(axis, curves, cost, measure)
    limits = axis.get_xlim()
    finite = [high[np.isfinite(high)] for _, _, _, high in found]
    furthest = max([limits[1], *(1.02 * part.max() for part in finite if part.size)])
    for (colour, _), (levels, low, _, high) in zip(styles, found, strict=True):
        here = np.isfinite(low)
        right = np.where(np.isfinite(high), high, FURTHEST * furthest)
        axis.fill_betweenx(
            levels[here], low[here], right[here], color=colour, alpha=0.18, lw=0
        )
    axis.set_xlim(limits[0], furthest)


def bands(
    runs: Sequence[Result], cost: str, measure: str
) -> tuple[Array, Array, Array, Array]:
    """Return levels of the measure, and quartiles of the cost to reach each of them."""
    traced = [run for run in runs if "trace" in run]
    traces = [run["trace"] for run in traced]
    values = [lowest(trace, measure) for trace in traces]
    if not values:
        return (np.empty(0),) * 4
    ends = [one[-1] for one in values]
    # Below the goal a run ends because it is done, and not because it comes no further.
    done = [
        end
        for end, run in zip(ends, traced, strict=True)
        if run["status"] == "converged"
    ]
    start, end = max(one[0] for one in values), max(done, default=min(ends))
    levels = np.geomspace(start, min(end, start), LEVELS)
    reached = [
        cost_to_reach(np.array(trace[cost], float), one, levels)
        for trace, one in zip(traces, values, strict=True)
    ]
    reached += [np.full(LEVELS, np.inf)] * (len(runs) - len(traces))
    columns = np.array(reached).T
    parts = [
        np.array([quantile(column.tolist(), share) for column in columns])
        for share in (0.25, 0.5, 0.75)
    ]
    return levels, parts[0], parts[1], parts[2]


def lowest(trace: dict[str, list[float | None]], measure: str) -> Array:
    """The least value of the measure up to each record."""
    values = [np.inf if one is None else max(one, LEAST) for one in trace[measure]]
    return np.minimum.accumulate(np.array(values))


def cost_to_reach(costs: Array, values: Array, levels: Array) -> Array:
    """Cost at which each level is first reached, linear in its logarithm between.

    Not so before the first record after the start, of which nothing is known.
    """
    found = np.full(len(levels), np.inf)
    for k, level in enumerate(levels):
        at = int(np.argmax(values <= level * (1 + 1e-12)))
        if values[at] > level * (1 + 1e-12):
            break
        if at <= 1:
            found[k] = costs[at]
            continue
        above, below = values[at - 1], values[at]
        part = 1.0
        if np.isfinite(above) and above > below:
            part = np.log(above / level) / np.log(above / below)
        found[k] = costs[at - 1] + min(1.0, part) * (costs[at] - costs[at - 1])
    return found
