"""What a reader cannot see of a figure: curves under names, starts, names cut off."""

from __future__ import annotations

import itertools

from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.text import Text
from matplotlib.transforms import Bbox


def faults(figure: Figure) -> list[str]:
    """Return all that is covered, cut off or outside, at the size it is drawn at."""
    figure.draw_without_rendering()
    curves = [
        (axis, line)
        for axis in figure.axes
        for line in axis.get_lines()
        if line.get_transform() == axis.transData  # others lead from a curve to a name
    ]
    beyond = _beyond(figure)
    texts = [
        text
        for text in figure.findobj(Text)
        if text.get_visible() and text.get_text().strip() and text not in beyond
    ]
    named = [(f"{text.get_text()!r}", text.get_window_extent()) for text in texts]
    legends = [("the legend", x.get_window_extent()) for x in figure.findobj(Legend)]
    found = []
    for axis, line in curves:
        frame = axis.get_window_extent()
        path = line.get_transform().transform_path(line.get_path())
        for name, box in named + legends:
            inside = Bbox.intersection(box, frame)
            if inside is not None and path.intersects_bbox(inside, filled=False):
                found.append(f"{name} covers {line.get_label()}")
        x, y = path.vertices[0]
        if not (frame.x0 <= x <= frame.x1 and frame.y0 <= y <= frame.y1):
            found.append(f"{line.get_label()} begins outside of the axes")
    for (one, a), (other, b) in itertools.combinations(named, 2):
        if a.overlaps(b):
            found.append(f"{one} and {other} overlap")
    for name, box in named + legends:
        if not (box.x0 >= 0 and box.y0 >= 0):
            found.append(f"{name} is cut off")
        if not (box.x1 <= figure.bbox.x1 and box.y1 <= figure.bbox.y1):
            found.append(f"{name} is cut off")
    for name, box in legends:
        for axis in figure.axes:
            if box.overlaps(axis.get_window_extent()):
                found.append(f"{name} lies on axes")
    return found


def _beyond(figure: Figure) -> list[Text]:
    """Names of ticks that are not drawn: beyond the ends of an axis, or of none."""
    found = []
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            for tick in axis.get_major_ticks():
                if not (axes.axison and low <= tick.get_loc() <= high):
                    found += [tick.label1, tick.label2]
    return found
