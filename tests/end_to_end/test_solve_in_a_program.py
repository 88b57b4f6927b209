"""`solve` in a program of the user's own: an error on one rank does not hang others."""

from __future__ import annotations

from tests.launcher import mpirun

PROGRAM = """
import sys, time
import numpy as np
from mpi4py import MPI
import pmgt_mpi

comm = MPI.COMM_WORLD
where = sys.argv[1]


class Mean:
    def __init__(self):
        self.A = np.random.default_rng(comm.rank).normal(size=(20, 3))
        self.rows, self.shape, self.calls = 20, (3,), 0

    def value(self, x):
        return float(((self.A - x) ** 2).sum(axis=1).mean() / 2)

    def grad(self, x):
        self.calls += 1
        if self.calls == 3 and comm.rank == 1 and where == "one":
            raise RuntimeError("broken on one rank")
        if self.calls == 3 and comm.rank == 3 and where == "half":
            raise RuntimeError("broken on one rank of a half")
        if self.calls == 3 and where == "all":
            raise RuntimeError("broken on all ranks")
        if self.calls == 3 and comm.rank == 1 and where == "stuck":
            time.sleep(60)
        return x - self.A.mean(axis=0)

    def minibatch_grad(self, x, rows):
        return x - self.A[rows].mean(axis=0)


def run():
    return pmgt_mpi.solve(
        Mean(), algorithm={"name": "nids", "step_size": 0.5}, steps=5,
        evaluate_every=0, timeout=2 if where == "stuck" else 60,
        comm=comm.Split(comm.rank % 2, comm.rank) if where == "half" else None,
    )


try:
    print(run().status)
    if where == "half":
        comm.recv(source=3)
except RuntimeError as error:
    print("caught", error)
    where = "nowhere"
    print(run().status)
if where == "half":
    comm.Barrier()  # mpirun may crash over an abort while other ranks are in Finalize
"""


def program(folder, where, ranks=3):
    (folder / "program.py").write_text(PROGRAM)
    return mpirun(ranks, ["program.py", where], cwd=folder, timeout=30)


def test_an_error_on_one_rank_ends_the_job_and_names_the_agent(tmp_path):
    result = program(tmp_path, "one")
    assert result.returncode == 1
    assert not result.survivors
    assert result.seconds < 10
    assert "pmgt_mpi: agent 1 on " in result.stderr
    assert "failed: RuntimeError: broken on one rank" in result.stderr
    assert "caught" not in result.stdout


def test_an_error_on_one_rank_of_a_half_ends_the_job_and_names_the_agent(tmp_path):
    """Rank 3 is agent 1 of the second half; the first, which waits for it, ends too."""
    result = program(tmp_path, "half", ranks=4)
    assert result.returncode == 1
    assert not result.survivors
    assert result.seconds < 10
    assert "pmgt_mpi: agent 1 on " in result.stderr
    assert "failed: RuntimeError: broken on one rank of a half" in result.stderr
    assert "caught" not in result.stdout


def test_an_error_that_all_ranks_share_may_be_caught(tmp_path):
    result = program(tmp_path, "all").expect(0)
    assert result.stdout.count("caught broken on all ranks") == 3
    assert result.stdout.count("budget") == 3
    assert "pmgt_mpi" not in result.stderr


def test_a_rank_that_hangs_is_named(tmp_path):
    result = program(tmp_path, "stuck")
    assert result.returncode == 4
    assert not result.survivors
    assert result.seconds < 15
    assert "agent 1 on " in result.stderr
    assert "is stuck: others wait for it, and it is still at work in nids, step 2" in (
        result.stderr
    )
