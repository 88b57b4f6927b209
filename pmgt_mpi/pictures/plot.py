"""The picture that a run leaves in its folder."""

from __future__ import annotations

import io
from pathlib import Path

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from pmgt_mpi.output.reading import Record, read_records
from pmgt_mpi.pictures.curves import Curve, looks, measure_of
from pmgt_mpi.pictures.labels import legend_below
from pmgt_mpi.pictures.panel import COST_NAMES, MEASURE_NAMES, draw_curves
from pmgt_mpi.pictures.style import drawing
from pmgt_mpi.replacing import replacing
from pmgt_mpi.terminal import printable

AXES = tuple((cost, COST_NAMES[cost]) for cost in ("gradients", "rounds", "seconds"))


def plot_run(folder: Path) -> Path:
    """Draw suboptimality against cost for every algorithm of a run folder."""
    traces: dict[str, list[Record]] = {}
    for record in read_records(folder / "metrics.jsonl"):
        traces.setdefault(record["algorithm"], []).append(record)
    curves = [
        Curve(printable(label), label, colour, dashes, traces[label], status="")
        for label, (colour, dashes) in zip(traces, looks(list(traces)), strict=True)
    ]
    measure = measure_of(curves)
    with drawing():
        figure = Figure(figsize=(12, 4), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots(1, len(AXES), sharey=True)
        for axis, (cost, _) in zip(axes, AXES, strict=True):
            draw_curves(axis, curves, cost, measure)
        axes[0].set_ylabel(MEASURE_NAMES[measure])
        figure.align_xlabels()
        legend_below(figure)
        path = folder / "convergence.png"
        content = io.BytesIO()
        figure.savefig(content, format="png", dpi=150)
    with replacing(path) as temporary:  # also where the name is a link elsewhere
        temporary.write_bytes(content.getvalue())
    return path
