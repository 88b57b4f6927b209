"""A test that fails on one rank only: all ranks know of it, and nothing hangs."""

from __future__ import annotations

from pathlib import Path

from tests.launcher import ROOT, Result, mpirun

FAILING = """
import pytest
from mpi4py import MPI

rank = MPI.COMM_WORLD.rank


@pytest.fixture
def broken_on_one():
    assert rank != 1, "fixture of one"


def test_call():
    assert rank != 1, "call of one"


def test_setup(broken_on_one):
    pass


def test_call_of_all():
    assert False, "call of each"


def test_all_but_one_meet(together):
    assert rank != 2, "left early"
    with together:
        pass


def test_more_meetings_on_one(together):
    for _ in range(1 + rank % 2):
        with together:
            pass


def test_skip_on_one():
    if rank == 1:
        pytest.skip("not here")


def test_inside_together(together):
    with together:
        assert rank != 0, "first"


@pytest.mark.xfail(strict=True)
def test_expected_to_fail():
    assert rank != 2


def test_skip_on_all():
    pytest.skip("nowhere")


def test_good(comm):
    assert comm.allreduce(1) == 3
"""

BLOCKED = """
from mpi4py import MPI


def test_blocked(comm):
    assert comm.rank != 1, "gone"
    comm.Barrier()
"""

HANGING = """
import pytest


@pytest.mark.timeout(2)
def test_hanging(comm):
    comm.recv(source=comm.rank)
"""

DIFFERENT = """
import pytest
from mpi4py import MPI


@pytest.mark.parametrize("rank", [MPI.COMM_WORLD.rank])
def test_named_by_rank(rank):
    pass
"""

BROKEN = """
from mpi4py import MPI

assert MPI.COMM_WORLD.rank != 2, "this module breaks"


def test_nothing():
    pass
"""


def run_tests(folder: Path, source: str) -> Result:
    file = folder / "test_it.py"
    file.write_text(source)
    options = ["-p", "tests.mpi.conftest", "-p", "no:cacheprovider", "--color=no"]
    options += ["-c", str(ROOT / "pyproject.toml"), "--with-mpi", str(file)]
    result = mpirun(3, ["-m", "pytest", *options], timeout=60)
    assert result.returncode != 0, str(result)
    assert not result.survivors, str(result)
    return result


def test_failure_of_one_is_reported_by_agent_0(tmp_path: Path) -> None:
    result = run_tests(tmp_path, FAILING)
    out = result.stdout
    assert "6 failed, 1 passed, 1 skipped, 1 xfailed, 1 error in" in out, str(result)
    assert "agents 0, 2: passed" in out
    assert "\nagent 1: AssertionError: call of one\n" in out
    assert "\nagent 1: AssertionError: fixture of one\n" in out
    assert "AssertionError: left early" in out
    assert "AssertionError: call of each" in out
    assert "agents 0, 1, 2: this" in out
    assert "AgentsError: agent 2: left the test before this point" in out
    assert "agent 1: agent 0: left the test before this point" in out
    assert "agent 1: skipped: not here" in out
    assert "AgentsError: agent 0: test_it.py:44: first" in out
    assert "agents 0, 1: this" not in out
    assert out.count("test session starts") == 1


def test_failure_of_one_while_the_others_block_ends_the_job(tmp_path: Path) -> None:
    result = run_tests(tmp_path, BLOCKED)
    assert result.seconds < 30
    assert "agent 1: agents 0, 2 not there after 5 s; the job is ended" in result.stderr
    assert "AssertionError: gone" in result.stderr


def test_hanging_test_shows_where_every_agent_stands(tmp_path: Path) -> None:
    result = run_tests(tmp_path, HANGING)
    assert result.seconds < 30
    for agent in range(3):
        assert f"agent {agent}: " in result.stderr
    assert "::test_hanging not done after 2 s; it stands here" in result.stderr
    assert result.stderr.count("in test_hanging") == 3


def test_agents_that_collect_different_tests_do_not_start(tmp_path: Path) -> None:
    result = run_tests(tmp_path, DIFFERENT)
    assert "agents 0 and 1 have collected different tests" in result.stderr


def test_module_that_breaks_on_one_agent_is_shown(tmp_path: Path) -> None:
    result = run_tests(tmp_path, BROKEN)
    assert "AssertionError: this module breaks" in result.stderr


def test_wrong_launcher_is_noticed(tmp_path: Path) -> None:
    """Without mpirun the world has one rank, whatever the environment says."""
    file = tmp_path / "test_it.py"
    file.write_text("def test_nothing(): pass\n")
    options = ["-p", "tests.mpi.conftest", "-c", str(ROOT / "pyproject.toml")]
    script = (
        "import os, sys, pytest\n"
        "os.environ['OMPI_COMM_WORLD_SIZE'] = '4'\n"
        f"sys.exit(pytest.main({[*options, '--with-mpi', str(file)]}))\n"
    )
    result = mpirun(1, ["-c", script], timeout=60)
    assert result.returncode != 0
    assert "the launcher started 4 ranks, but the world has 1" in result.stderr
