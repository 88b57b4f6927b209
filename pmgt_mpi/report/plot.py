"""The picture that a run leaves in its folder."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

AXES = (
    ("gradients", "component gradients per agent"),
    ("rounds", "gossip rounds"),
    ("seconds", "seconds"),
)

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Okabe and Ito's palette, which colour-blind people can tell apart."""


def plot_run(folder: Path) -> Path:
    """Draw suboptimality against cost for every algorithm of a run folder."""
    with (folder / "metrics.jsonl").open() as file:
        records = [json.loads(line) for line in file]
    measure = "relative_suboptimality"
    if all(record[measure] is None for record in records):
        measure = "objective"
    figure = Figure(figsize=(12, 4), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(1, len(AXES), sharey=True)
    for axis, (cost, name) in zip(axes, AXES, strict=True):
        _curves(axis, records, cost, measure)
        axis.set_xlabel(name)
        axis.grid(alpha=0.3, which="major")
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel(measure.replace("_", " "))
    if axes[-1].get_legend_handles_labels()[0]:
        axes[-1].legend(frameon=False)
    path = folder / "convergence.png"
    figure.savefig(path, dpi=150)
    return path


def _curves(axis: Axes, records: list[dict[str, Any]], cost: str, measure: str) -> None:
    """One curve for each algorithm, logarithmic where that can be."""
    logarithmic = spread(record[cost] for record in records) > 100
    for number, label in enumerate(dict.fromkeys(r["algorithm"] for r in records)):
        points = [
            (record[cost], record[measure])
            for record in records
            if record["algorithm"] == label and record[measure] is not None
        ]
        if logarithmic:
            points = [(x, y) for x, y in points if x > 0]
        if measure != "objective":
            # What has reached the rounding error cannot be shown on a log axis.
            points = [(x, y) for x, y in points if y > 0]
        if points:
            x, y = zip(*points, strict=True)
            colour = COLOURS[number % len(COLOURS)]
            # A line through a single point cannot be seen.
            marker = "o" if len(points) == 1 else None
            axis.plot(x, y, color=colour, label=label, lw=1.8, marker=marker)
    if measure != "objective":
        axis.set_yscale("log")
    if logarithmic:
        axis.set_xscale("log")


def spread(costs: Iterable[float]) -> float:
    """How many times the largest cost exceeds the smallest positive one."""
    positive = [cost for cost in costs if cost > 0]
    return max(positive) / min(positive) if positive else 1.0
