"""One look for all pictures: colours, line styles, letters."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

INK = "#1f2328"
"""Text and nodes; in the palette it takes the place of pure black."""

BLUE = "#0072b2"

COLOURS = (BLUE, "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", INK)
"""Okabe and Ito's palette, which colour-blind people can tell apart."""

DASHES: tuple[tuple[float, ...], ...] = (
    (), (7, 1.5, 1.5, 1.5), (1.5, 1.5), (7, 1.5, 1.5, 1.5, 1.5, 1.5), (10, 2), (4, 3),
)  # fmt: skip
"""Lengths of strokes and gaps in line widths; a full line has none."""

BOUND_DASHES = (4, 3)
"""Of a line that theory gives: thinner than what was measured, and broken."""

FAINT = "#8c959f"
"""Axes, ticks and edges: there to be looked past."""

GRID = "#e4e7eb"

PAPER = "#ffffff"

SHARES = {
    "compute": BLUE,
    "communication": "#e69f00",
    "evaluation": "#b8bec6",
}
"""Colours of the shares of a rank's time."""

RC: Any = {
    "text.usetex": False,
    "text.parse_math": True,
    "font.size": 10,
    "axes.labelsize": 10,
    "axes.labelcolor": INK,
    "axes.edgecolor": FAINT,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.titlesize": 11,
    "axes.titlelocation": "left",
    "axes.titlecolor": INK,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "text.color": INK,
    "lines.linewidth": 1.8,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "savefig.dpi": 200,
    "savefig.facecolor": PAPER,
    "svg.fonttype": "path",
}
"""Settings of matplotlib; letters are drawn as paths, as fonts differ by machine."""

LONGEST = 60
"""Letters of a name that are drawn; of a longer one its beginning and its end."""


def plain(name: str) -> str:
    r"""Return a name that matplotlib draws as it stands.

    Between two dollar signs it sees formulas, unless they are written \\$; and what
    begins with an underscore it leaves out of legends.
    """
    if len(name) > LONGEST:
        name = f"{name[: LONGEST // 2]}…{name[1 - LONGEST // 2 :]}"
    name = name.replace("$", r"\$")
    return f" {name}" if name.startswith("_") else name


@contextmanager
def drawing() -> Iterator[None]:
    """Draw in the style of all pictures; a letter that the font lacks is a box."""
    from matplotlib import rc_context  # where only a table is asked for, it may lack

    with rc_context(RC), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield
