"""Mangled configs, graphs and data files given to whole jobs: no traceback, no hang."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.launcher import mpirun
from tests.support.mangling import Case, case_of

JOBS = 60
RANKS = 2
AT_ONCE = 3
"""Jobs, each of which spends most of its time with its start."""

ENDS = {0: "ran", 2: "refused", 3: "ran and diverged", 75: "ran out of time"}


def judge(result) -> str:
    """How a job ended; fail unless it was well, or with one clear error."""
    output = result.stdout + result.stderr
    assert "Traceback" not in output, result
    assert not result.survivors, result
    short = "not enough memory" in output and result.returncode == 1
    assert short or result.returncode in ENDS, result
    errors = [s for s in result.stderr.splitlines() if "pmgt_mpi: " in s]
    if result.returncode == 2:
        assert len(errors) == 1, result
        assert "error: " in errors[0] or " failed: " in errors[0], result
    elif not short:
        assert not errors, result
    return "refused for want of memory" if short else ENDS[result.returncode]


@pytest.mark.timeout(900)
def test_each_ends_in_success_or_in_one_clear_error(tmp_path_factory, capfd):
    base = tmp_path_factory.mktemp("mangled")

    def end_of(number: int, case: Case) -> tuple[str, str]:
        folder = base / str(number)
        folder.mkdir()
        for name, content in case.files.items():
            (folder / name).write_bytes(content)
        arguments = ["-m", "pmgt_mpi.run", "--config", "config.toml", "--out", "out"]
        # A budget that was mangled into years is no reason to wait for its end.
        arguments += ["--max-seconds", "6"]
        env = {"PMGT_CACHE": str(base / "cache")}
        result = mpirun(RANKS, arguments, cwd=folder, env=env, timeout=30)
        return case.kind, judge(result)

    drawn = [case_of(number, RANKS) for number in range(JOBS)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        seen = Counter(pool.map(end_of, range(len(drawn)), drawn))
    total = sum(seen.values())
    with capfd.disabled():
        print(f"\n{total} mangled jobs on {RANKS} ranks:")  # noqa: T201
        for (kind, how), n in sorted(seen.items()):
            print(f"  {kind:8} {how:28} {n:5} ({n / total:.0%})")  # noqa: T201
    assert total >= JOBS
    assert sum(n for (_, how), n in seen.items() if how.startswith("ran")) >= 6
