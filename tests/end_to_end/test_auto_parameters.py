"""`auto` on the first of the random problems; the script runs fifty and more."""

from __future__ import annotations

import subprocess
import sys

from tests.launcher import ROOT, mpirun
from tests.support.running import SMALL_ALGORITHMS


def test_auto_on_random_problems():
    script = ROOT / "scripts" / "auto_problems.py"
    result = mpirun(
        5, [script, "--problems", "6", "--algorithms", *SMALL_ALGORITHMS], timeout=120
    ).expect(0)
    last = result.stdout.splitlines()[-1]
    assert last.startswith("24 runs: 0 diverged, ")


def test_a_guard_on_random_and_on_hard_quadratics():
    script = ROOT / "scripts" / "auto_problems.py"
    for kind, names in (("random", ["nids", "extra"]), ("hard", SMALL_ALGORITHMS[:2])):
        command = [
            sys.executable, script, "--rows", kind, "--problems", "4", "--algorithms",
            *names,
        ]  # fmt: skip
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=120, check=True
        )
        assert " runs: 0 diverged, " in done.stdout
