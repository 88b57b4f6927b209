"""The pictures of a report: PNG and SVG files, and SVG to put into the page."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.scale import SymmetricalLogTransform
from matplotlib.text import Text

from pmgt_mpi.output.runs import COSTS, Run
from pmgt_mpi.pictures.curves import Curve, measure_of, run_names
from pmgt_mpi.pictures.graph import draw_graph, graph_title
from pmgt_mpi.pictures.labels import label_curves, legend_below
from pmgt_mpi.pictures.panel import COST_NAMES, MEASURE_NAMES, draw_curves
from pmgt_mpi.pictures.style import BLUE, FAINT, GRID, INK, PAPER, drawing
from pmgt_mpi.pictures.times import draw_times, ranks_of, straggler, times_height
from pmgt_mpi.replacing import replacing

PANEL = (4.8, 3.5)
"""Inches of a panel with curves; three stand beside each other on a wide screen."""

VARIABLES = {
    INK: "--ink",
    FAINT: "--faint",
    GRID: "--grid",
    PAPER: "--paper",
    BLUE: "--blue",
}
"""Colours that the page sets, so that pictures are dark where the page is."""


@dataclass(frozen=True)
class Picture:
    """One picture.

    Attributes
    ----------
    section
        Which part of the page it belongs to: curves, graph or times.
    stem
        Of the files' names.
    alt
        What it shows, in words.
    svg
        To be put into a page.
    note
        A sentence to go with it.
    axes
        Of curves: keys, limits and scales, and the frame, for whoever points at it.
    """

    section: str
    stem: str
    alt: str
    svg: str
    note: str = ""
    axes: dict[str, Any] | None = None


def draw_report(
    folder: Path, runs: Sequence[Run], curves: Sequence[Curve]
) -> list[Picture]:
    """Draw everything, and write it to a folder."""
    with drawing():
        return [
            *_curve_pictures(folder, curves),
            *_graph_pictures(folder, runs),
            *_time_pictures(folder, curves),
        ]


def _curve_pictures(folder: Path, curves: Sequence[Curve]) -> Iterator[Picture]:
    measure = measure_of(curves)
    panels = [(cost, measure) for cost in COSTS] + [("rounds", "consensus")]
    for cost, shown in panels:
        every = [point for curve in curves for point in curve.points(cost, shown)]
        if not any(x > 0 for x, _ in every) or not any(y for _, y in every):
            continue  # a single agent sends nothing, and differs from nobody
        figure, axis = new_figure(PANEL)
        draw_curves(axis, curves, cost, shown)
        axis.set_ylabel(MEASURE_NAMES[shown])
        if not label_curves(figure, axis):
            legend_below(figure)
        stem = f"{shown.replace('_', '-')}-{cost}"
        svg = save_picture(figure, folder, stem)
        alt = f"{MEASURE_NAMES[shown]} against {COST_NAMES[cost]}"
        axes = _geometry(figure, axis, cost, shown)
        yield Picture("curves", stem, alt, svg, axes=axes)


def _graph_pictures(folder: Path, runs: Sequence[Run]) -> Iterator[Picture]:
    names = run_names(runs)
    for run, stem in zip(runs, _stems("graph", runs, names), strict=True):
        if run.edges is None:
            continue
        figure, axis = new_figure((4.2, 4.4))
        draw_graph(axis, run)
        note = names[run.path] if len(runs) > 1 else ""
        svg = save_picture(figure, folder, stem)
        yield Picture("graph", stem, f"Gossip graph: {graph_title(run)}", svg, note)


def _time_pictures(folder: Path, curves: Sequence[Curve]) -> Iterator[Picture]:
    stems: set[str] = set()
    for curve in curves:
        rows = ranks_of(curve)
        if not rows:
            continue
        figure, axis = new_figure((PANEL[0], times_height(rows)))
        draw_times(axis, rows, curve.name)
        stem = _slug(f"times-{curve.name}")
        while stem in stems:
            stem += "-2"
        stems.add(stem)
        svg = save_picture(figure, folder, stem)
        note = straggler(rows) or ""
        yield Picture("times", stem, f"Seconds of each rank: {curve.name}", svg, note)


def new_figure(size: tuple[float, float]) -> tuple[Figure, Axes]:
    """Make a figure with one pair of axes."""
    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots()


def save_picture(figure: Figure, folder: Path, stem: str) -> str:
    """Write PNG and SVG, and return the SVG for the page; the same bytes every time."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # labels were placed in this layout
    _fit(figure)
    with rc_context({"svg.hashsalt": stem}):
        for suffix, metadata in (("png", {}), ("svg", {"Date": None})):
            content = io.BytesIO()
            figure.savefig(content, format=suffix, metadata=metadata)
            with replacing(folder / f"{stem}.{suffix}") as temporary:
                temporary.write_bytes(content.getvalue())
    return inline_svg(content.getvalue().decode(), stem)


def _fit(figure: Figure) -> None:
    """Write what would not end within the figure, as a long title, smaller."""
    width = figure.bbox.width
    for text in figure.findobj(Text):
        assert isinstance(text, Text)  # what findobj is asked for
        box = text.get_window_extent()
        room = width - max(box.x0, 0)
        if box.width > room:
            size = float(text.get_fontsize())
            text.set_fontsize(
                0.9 * size * room / box.width
            )  # letters have whole pixels


def inline_svg(text: str, stem: str) -> str:
    """Make an SVG file a part of a page: its ids its own, its colours the page's."""
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.DOTALL)
    text = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", text, count=1)
    text = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", text, count=1)
    text = re.sub(r'\bid="', f'id="{stem}.', text)
    text = text.replace('href="#', f'href="#{stem}.').replace("url(#", f"url(#{stem}.")
    for colour, variable in VARIABLES.items():
        text = text.replace(colour, f"var({variable})")
    return text


def page_colour(colour: str) -> str:
    """Return a colour as the page has it."""
    return f"var({VARIABLES[colour]})" if colour in VARIABLES else colour


def _geometry(figure: Figure, axis: Axes, cost: str, measure: str) -> dict[str, Any]:
    """Where the axes lie in the SVG, whose unit is the point and whose y goes down."""
    left, bottom, right, top = axis.get_position().extents
    width, height = 72 * figure.get_size_inches()
    frame = (left * width, (1 - top) * height, right * width, (1 - bottom) * height)
    return {
        "x": {"key": cost, "limits": list(axis.get_xlim()), **_scale(axis.xaxis)},
        "y": {"key": measure, "limits": list(axis.get_ylim()), **_scale(axis.yaxis)},
        "frame": [round(float(x), 2) for x in frame],
    }


def _scale(scaled: Axis) -> dict[str, Any]:
    """How values lie along an axis: log10 is taken of them, from `zero_to` on."""
    transform = scaled.get_transform()
    if not isinstance(transform, SymmetricalLogTransform):
        return {"log": scaled.get_scale() == "log"}
    # Matplotlib makes the linear piece so wide that the first power of ten matches it.
    width = transform.linscale / (1 - 1 / transform.base)
    return {"log": True, "zero_to": transform.linthresh, "zero_width": width}


def _stems(kind: str, runs: Sequence[Run], names: dict[object, str]) -> list[str]:
    if len(runs) == 1:
        return [kind]
    return [
        f"{kind}-{number}-{_slug(names[run.path])}"
        for number, run in enumerate(runs, 1)
    ]


def _slug(text: str) -> str:
    """Make a name one that files have."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()[:60]).strip("-")
