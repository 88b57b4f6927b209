"""docs/departures.md: its program prints what stands below it."""

from __future__ import annotations

from contextlib import redirect_stdout
from io import StringIO

from tests.support.documents import block

PAGE = "docs/departures.md"


def test_the_program_prints_what_is_shown():
    with redirect_stdout(StringIO()) as printed:
        exec(block(PAGE, "program"), {})
    assert printed.getvalue() == block(PAGE, "output") + "\n"
