"""The panels of the paper's figures, and what it could not show."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from pathlib import Path

from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image
from reproduced import DATA, METHODS, RATIOS, Experiment

from pmgt_mpi.pictures.curves import Curve
from pmgt_mpi.pictures.labels import label_curves
from pmgt_mpi.pictures.panel import COST_NAMES, MEASURE_NAMES, draw_curves
from pmgt_mpi.pictures.style import COLOURS, RC
from pmgt_mpi.replacing import replacing

NAMES = {
    "pmgt-katyushax": "PMGT-KatyushaX",
    "pmgt-svrg": "PMGT-SVRG",
    "nids": "NIDS",
    "pg-extra": "PG-EXTRA",
}
DASHED = {"pg-extra": (3.0, 2.0)}
MEASURE = "relative_suboptimality"
PANEL = (4.6, 2.9)
"""Inches of a panel."""

DPI, SHADES = 110, 96
"""Of the pictures, which are to be small."""

SHEETS = {
    "paper": ("gradients_paper", "rounds", "cost"),
    "machine": ("seconds", "bytes"),
}
"""What a picture shows, from top to bottom: what the paper showed, and what not."""

Picture = tuple[str, str, str]
"""Which data, which of `SHEETS`, and the name of the file."""


def draw_figures(
    folder: Path, experiments: Sequence[Experiment], weight: float
) -> list[Picture]:
    """Draw two pictures for each data set, r = 2 on the left, r = 300 on the right."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn = []
    for data in DATA:
        own = [one for one in experiments if one.data == data]
        if not own:
            continue
        for sheet, costs in SHEETS.items():
            name = f"{data}-{sheet}.png"
            with rc_context(RC):
                _save(_figure(own, costs, weight), folder / name)
            drawn.append((data, sheet, name))
    return drawn


def _figure(
    experiments: list[Experiment], costs: tuple[str, ...], weight: float
) -> Figure:
    size = (PANEL[0] * len(RATIOS), PANEL[1] * len(costs))
    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(len(costs), len(RATIOS), squeeze=False)
    for column, ratio in enumerate(RATIOS):
        here = next((one for one in experiments if one.ratio == ratio), None)
        for row, cost in enumerate(costs):
            axis = axes[row, column]
            if here is None:
                axis.set_axis_off()
                continue
            draw_curves(axis, list(curves_of(here)), cost, MEASURE)
            for line in axis.get_lines():
                if str(line.get_label()).startswith("_"):
                    line.set(alpha=0.35, linewidth=0.7)
            words = f"gradients + {weight:g} × rounds, per agent"
            axis.set_xlabel(words if cost == "cost" else COST_NAMES[cost])
            if column == 0:
                axis.set_ylabel(MEASURE_NAMES[MEASURE])
            if row == 0:
                axis.set_title(f"r = {ratio}")
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # labels are placed in this layout
    for axis in axes.flat:
        if axis.get_lines() and not label_curves(figure, axis):
            axis.legend(fontsize=8)
    return figure


def curves_of(experiment: Experiment) -> Iterator[Curve]:
    """All seeds' curves; those of the first have names and come last, on top."""
    first = min(experiment.runs)
    for seed, run in sorted(experiment.runs.items(), reverse=True):
        for number, method in enumerate(METHODS):
            if method not in run.traces:
                continue
            name = NAMES[method]
            yield Curve(
                name=name if seed == first else f"_{name} of seed {seed}",
                label=method,
                colour=COLOURS[number],
                dashes=DASHED.get(method, ()),
                records=run.traces[method],
                status=run.status(method),
                run=run,
            )


def _save(figure: Figure, path: Path) -> None:
    """Write a PNG with a palette, a quarter of the bytes; all of it or nothing."""
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=DPI)
    with replacing(path) as temporary:
        picture = Image.open(content).convert("RGB").quantize(SHADES)
        picture.save(temporary, format="png", optimize=True)
