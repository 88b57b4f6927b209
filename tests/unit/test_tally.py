"""The last lines of the report."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import tally

REPORT = """<testsuites><testsuite>
<testcase classname="tests.mpi.test_a" name="test_one"/>
<testcase classname="tests.mpi.test_a" name="test_two">
  <skipped type="pytest.skip" message="Test requires 2 MPI processes"/></testcase>
<testcase classname="tests.mpi.test_a" name="test_three">
  <failure message="x"/></testcase>
<testcase classname="tests.mpi.test_a" name="test_four">
  <error message="x"/></testcase>
<testcase classname="tests.mpi.test_a" name="test_five">
  <skipped type="pytest.xfail" message="known"/></testcase>
</testsuite></testsuites>"""


@pytest.fixture
def suites(monkeypatch: pytest.MonkeyPatch) -> dict[int, tally.Suite]:
    fresh: dict[int, tally.Suite] = {}
    monkeypatch.setattr(tally, "suites", fresh)
    return fresh


def test_report_is_read(tmp_path: Path) -> None:
    path = tmp_path / "report.xml"
    path.write_text(REPORT)
    suite = tally.Suite.read(path)
    prefix = "tests.mpi.test_a.test_"
    assert suite.ran == {prefix + name for name in ("one", "three", "four", "five")}
    assert suite.failed == {f"{prefix}three", f"{prefix}four"}
    assert suite.skipped == {f"{prefix}two": "Test requires 2 MPI processes"}


@pytest.mark.usefixtures("suites")
def test_nothing_to_say() -> None:
    assert tally.last_lines(set(), {}) == []


def test_counts_are_over_all_numbers_of_ranks(suites: dict[int, tally.Suite]) -> None:
    suites[2] = tally.Suite(ran={"a", "b"})
    suites[1] = tally.Suite(ran={"a"}, skipped={"b": "needs two"})
    assert tally.last_lines({"x"}, {}) == [
        "MPI: 3 tests ran inside a communicator (1, 2 ranks), "
        "1 tests started mpirun themselves; 0 tests skipped"
    ]


@pytest.mark.usefixtures("suites")
def test_no_suite_ran() -> None:
    assert tally.last_lines({"x", "y"}, {}) == [
        "MPI: 0 tests ran inside a communicator, "
        "2 tests started mpirun themselves; 0 tests skipped"
    ]


def test_each_skipped_test_says_what_it_lacks(suites: dict[int, tally.Suite]) -> None:
    suites[1] = tally.Suite(ran={"a"}, skipped={"b": "no strace"})
    assert tally.last_lines(set(), {"c": "no file a9a.bz2"}) == [
        "MPI: 1 tests ran inside a communicator (1 ranks), "
        "0 tests started mpirun themselves; 2 tests skipped:",
        "  b: no strace",
        "  c: no file a9a.bz2",
    ]
