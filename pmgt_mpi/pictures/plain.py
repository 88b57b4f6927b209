"""Text from outside in pictures: as it stands, whatever it is."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from matplotlib import rc_context

from pmgt_mpi.pictures.style import RC

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
    with rc_context(RC), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield
