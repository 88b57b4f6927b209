"""docs/departures.md: its program prints what stands below it."""

from __future__ import annotations

import re
from contextlib import redirect_stdout
from io import StringIO

from tests.launcher import ROOT

PAGE = (ROOT / "docs" / "departures.md").read_text()


def block(mark: str) -> str:
    found = re.search(rf"<!-- {mark} -->\n```\w+\n(.*?)```", PAGE, re.DOTALL)
    assert found
    return found.group(1)


def test_the_program_prints_what_is_shown():
    with redirect_stdout(StringIO()) as printed:
        exec(block("program"), {})
    assert printed.getvalue() == block("output")


def test_the_files_that_it_names_are_there():
    names = re.findall(r"`((?:pmgt_mpi|docs)/[\w/.]+)`", PAGE)
    assert names
    assert all((ROOT / name).is_file() for name in names)
