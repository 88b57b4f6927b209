"""Direct labels: the name of a curve beside it, where it covers nothing."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.path import Path
from matplotlib.patheffects import withStroke
from matplotlib.transforms import IdentityTransform
from numpy.typing import NDArray

from pmgt_mpi.pictures.style import PAPER

Array = NDArray[Any]

MOST = 6
"""Curves that may be labelled directly; with more a legend is easier to read."""

FONT_SIZE = 9

GAP = 6.0
"""Points between a curve and its name."""

ANCHORS = 40
"""Places along a curve at which its name is tried."""

MISLEADING = 300.0
"""Cost of a name that stands nearer to another curve than to its own."""

CROSSING = 100.0
"""Cost of a thin line to a name that crosses another curve on its way."""

DEAR = 400.0
"""Cost of a place that is worse than a legend."""

REACHES = (1, 3, 6)
"""Multiples of the gap that are tried; beyond the first a thin line leads there."""

SIDES = ((1, 0), (-1, 0), (1, 1), (-1, 1), (1, -1), (-1, -1), (0, 1), (0, -1))
"""Where the name stands as seen from the place: right, left, above right …"""


def label_curves(figure: Figure, axis: Axes) -> bool:
    """Write the name of every curve beside it; False if there is no room.

    Each name is tried at many places along its curve and takes the one where it
    touches neither a curve nor another name, is nearer to its own curve than to any
    other, and is as near as can be to the curve's end.
    """
    lines = [
        line for line in axis.get_lines() if not str(line.get_label()).startswith("_")
    ]
    if len(lines) > MOST:
        return False
    figure.draw_without_rendering()  # now the axes have their final place
    pixels = figure.dpi / 72
    frame = np.array(axis.get_window_extent().extents)
    paths = [_path(line, frame, 2 * pixels) for line in axis.get_lines()]
    placed: list[Array] = []
    made: list[Artist] = []
    for line, path in zip(axis.get_lines(), paths, strict=True):
        if line not in lines or len(path) == 0:
            continue
        text = axis.text(
            0,
            0,
            str(line.get_label()),
            color=line.get_color(),
            fontsize=FONT_SIZE,
            transform=IdentityTransform(),
            ha="left",
            va="bottom",
            in_layout=False,
            path_effects=[withStroke(linewidth=2.5, foreground=PAPER)],
        )
        made.append(text)
        size = text.get_window_extent()
        others = [other for other in paths if other is not path and len(other)]
        found = _best_place(
            path, others, placed, frame, size.width, size.height, pixels
        )
        if found is None:
            for artist in made:
                artist.remove()
            return False
        place, box, far = found
        placed.append(box)
        # In units of the axes, so that the label stays there at another resolution.
        inverse = axis.transAxes.inverted()
        text.set_transform(axis.transAxes)
        text.set_position(tuple(inverse.transform(box[:2])))
        if far:
            nearest = np.clip(place, box[:2], box[2:])
            leader = Line2D(
                *inverse.transform([place, nearest]).T,
                color=line.get_color(),
                lw=0.7,
                transform=axis.transAxes,
            )
            made.append(axis.add_artist(leader))
    return True


def legend_below(figure: Figure) -> None:
    """Put one legend of all axes below them, for which the figure grows.

    It has the fewest rows that are no wider than the figure.
    """
    handles: dict[str, Artist] = {}
    for axis in figure.axes:
        own, labels = axis.get_legend_handles_labels()
        handles.update(zip(labels, own, strict=True))
    if not handles:
        return
    width, height = figure.get_size_inches()
    for rows in range(1, len(handles) + 1):
        legend = figure.legend(
            handles.values(),
            handles.keys(),
            loc="outside lower center",
            ncols=-(-len(handles) // rows),
            fontsize=FONT_SIZE,
            handlelength=3.2,
            columnspacing=1.5,
        )
        size = legend.get_window_extent()
        if size.width <= 0.98 * width * figure.dpi or rows == len(handles):
            break
        legend.remove()
    wide = max(width, size.width / figure.dpi / 0.98)
    figure.set_size_inches(wide, height + size.height / figure.dpi)


def _path(line: Line2D, frame: Array, step: float) -> Array:
    """Points on a line, in pixels, a step apart, inside of the axes."""
    corners = line.axes.transData.transform(line.get_xydata())  # type: ignore[union-attr]
    corners = corners[np.isfinite(corners).all(axis=1)]
    if len(corners) < 2:
        return corners  # type: ignore[no-any-return]
    lengths = np.hypot(*np.diff(corners, axis=0).T)
    along = np.concatenate([[0.0], np.cumsum(lengths)])
    at = np.linspace(0, along[-1], max(2, int(along[-1] / step)))
    points = np.column_stack([np.interp(at, along, corners[:, k]) for k in (0, 1)])
    inside = (points >= frame[:2] - 1) & (points <= frame[2:] + 1)
    return points[inside.all(axis=1)]


def _best_place(
    path: Array,
    others: list[Array],
    placed: list[Array],
    frame: Array,
    width: float,
    height: float,
    pixels: float,
) -> tuple[Array, Array, bool] | None:
    """Find the cheapest place for a name; None if there is no room.

    Returns the place on the curve, the rectangle of the name (left, bottom, right,
    top), and whether it is so far away that a line must lead there.
    """
    gap = GAP * pixels
    anchors = path[np.unique(np.linspace(0, len(path) - 1, ANCHORS).astype(int))]
    best, least = None, DEAR
    tries = itertools.product(enumerate(anchors), REACHES, SIDES)
    for (number, (x, y)), reach, (across, up) in tries:
        left = x + across * reach * gap - width * (1 - across) / 2
        bottom = y + up * reach * gap * 0.7 - height * (1 - up) / 2
        box = np.array([left, bottom, left + width, bottom + height])
        if (box[:2] < frame[:2]).any() or (box[2:] > frame[2:]).any():
            continue
        if any(_overlap(box, other, gap / 2) for other in placed):
            continue
        cost = len(anchors) - number + 40.0 * (reach - 1)
        if cost >= least:
            continue
        nearest = min((_distance(points, box) for points in others), default=np.inf)
        own = _distance(path, box)
        if min(nearest, own) < gap / 3:
            continue
        if reach == 1:
            cost += MISLEADING * (nearest < 1.5 * own)
        else:
            leader = Path([(x, y), np.clip((x, y), box[:2], box[2:])])
            crossed = any(
                leader.intersects_path(Path(points), filled=False) for points in others
            )
            cost += CROSSING * crossed
        if cost < least:
            best, least = (anchors[number], box, reach > 1), cost
    return best


def _overlap(a: Array, b: Array, margin: float) -> bool:
    return bool((a[:2] < b[2:] + margin).all() and (b[:2] < a[2:] + margin).all())


def _distance(points: Array, box: Array) -> float:
    """From a rectangle to the nearest of some points."""
    away = np.maximum(np.maximum(box[:2] - points, points - box[2:]), 0)
    return float(np.hypot(*away.T).min())
