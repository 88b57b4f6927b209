"""The short form of scripts/mutants.py: some planted faults, and all are caught."""

from __future__ import annotations

import sys

from tests import launcher


def test_planted_faults_are_caught():
    launcher.started_by.add(launcher.current_test())
    script = launcher.ROOT / "scripts" / "mutants.py"
    command = [sys.executable, str(script), "--sample", "3", "--seed", "1"]
    result = launcher.run(command, timeout=240).expect(0)
    first, *each, last = result.stdout.splitlines()
    assert first == "without a fault all tests pass"
    assert [line.split()[0] for line in each] == ["caught"] * 3, result
    assert last == "3 of 3 faults caught"
