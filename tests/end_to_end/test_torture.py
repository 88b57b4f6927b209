"""The short form of scripts/torture.py: some kills, and nothing lost."""

from __future__ import annotations

import re
import sys

from tests import launcher


def test_killed_again_and_again_a_run_ends_with_the_same_bits():
    launcher.started_by.add(launcher.current_test())
    script = launcher.ROOT / "scripts" / "torture.py"
    command = [sys.executable, str(script), "--seconds", "8", "--seed", "4"]
    result = launcher.run(command, timeout=120).expect(0)
    assert result.stdout.splitlines()[-1] == "nothing lost"
    numbers = {
        key: int(re.search(pattern, result.stdout)[1])
        for key, pattern in [
            ("finished", r"uninterrupted one: (\d+)"),
            ("kills", r"kills: (\d+)"),
        ]
    }
    assert numbers["finished"] >= 1, result
    assert numbers["kills"] >= 2, result
