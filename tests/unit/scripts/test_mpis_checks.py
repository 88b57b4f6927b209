"""The checks of scripts/test_mpis.sh: tests that are there."""

from __future__ import annotations

import re
import runpy

import pytest

from tests.launcher import ROOT

MPIS = runpy.run_path(str(ROOT / "scripts" / "mpis" / "__main__.py"), run_name="mpis")
NAMED = [test for tests in MPIS["CHECKS"].values() for test in tests]
NAMED += [test for mpi in MPIS["MPIS"].values() for test in mpi.lacks]


@pytest.mark.parametrize("test", NAMED)
def test_every_check_is_there(test):
    file, _, function = test.partition("[")[0].partition("::")
    text = (ROOT / MPIS["END_TO_END"] / file).read_text()
    assert re.search(rf"^def {function or 'test_'}", text, re.MULTILINE)
    assert not function or f"def {function}(" in text
