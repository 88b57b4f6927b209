"""`auto` on the first of the random problems; the script runs fifty and more."""

from __future__ import annotations

from tests.launcher import ROOT, mpirun
from tests.support.running import SMALL_ALGORITHMS


def test_auto_on_random_problems():
    script = ROOT / "scripts" / "auto_problems.py"
    result = mpirun(
        5, [script, "--problems", "6", "--algorithms", *SMALL_ALGORITHMS], timeout=120
    ).expect(0)
    last = result.stdout.splitlines()[-1]
    assert last.startswith("24 runs: 0 diverged, ")
