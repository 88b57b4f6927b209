"""The launcher of the tests: clean environment, real limit, nothing left behind."""

from __future__ import annotations

import signal
import sys
import time
from pathlib import Path

import pytest

from tests import launcher

STUBBORN = """
import os, signal, sys, time
from mpi4py import MPI

signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.setpgid(0, 0)
if MPI.COMM_WORLD.rank == 0:
    print("still here", flush=True)
time.sleep(60)
"""

SIGNALLED = """
import signal, sys, time
from mpi4py import MPI

signal.signal(signal.SIGUSR1, lambda *_: sys.exit(75))
MPI.COMM_WORLD.Barrier()
print("ready", flush=True)
time.sleep(60)
"""


KILLED = """
import os, signal
from tests import launcher

print(launcher.start(["sleep", "62"]).pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def alive(pid: int) -> bool:
    """Whether a process runs: one that is dead but not yet waited for does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_world_size_and_arguments_with_spaces() -> None:
    code = "import sys; from mpi4py import MPI; print(MPI.COMM_WORLD.size, sys.argv[1])"
    result = launcher.mpirun(3, ["-c", code, "two words"], timeout=20)
    assert result.returncode == 0
    assert result.stdout.splitlines() == ["3 two words"] * 3
    assert result.survivors == []


def test_variables_of_an_outer_launcher_are_taken_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "7")
    monkeypatch.setenv("PMIX_RANK", "3")
    monkeypatch.setenv("KEPT", "yes")
    code = "import os; print(*(os.environ.get(n) for n in {}))".format(
        ["OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "KEPT", "ADDED", "HOME"]
    )
    result = launcher.run(
        [sys.executable, "-c", code], env={"ADDED": "1", "HOME": None}
    )
    assert result.stdout.split() == ["None", "None", "yes", "1", "None"]


def test_at_the_limit_everything_is_killed_and_the_output_kept(tmp_path: Path) -> None:
    script = tmp_path / "stubborn.py"
    script.write_text(STUBBORN)
    with launcher.start_mpirun(2, [script]) as job:
        while "still here" not in job.stdout:
            time.sleep(0.05)
        before = job.processes()
        with pytest.raises(launcher.TimeLimitError) as caught:
            job.wait(timeout=0.1)
    assert sum("stubborn.py" in line for line in before.values()) == 3
    assert not [pid for pid in before if alive(pid)]
    assert "not done after 0.1 s, killed" in str(caught.value)
    assert "still here" in str(caught.value)


def test_process_that_outlives_the_command_is_named_and_killed() -> None:
    start = time.monotonic()
    result = launcher.run(["bash", "-c", "setsid sleep 61 & echo $!"])
    assert result.survivors == ["sleep 61"]
    assert not alive(int(result.stdout))
    assert time.monotonic() - start < 10


def test_signal_reaches_the_ranks_and_their_exit_code_comes_back(
    tmp_path: Path,
) -> None:
    script = tmp_path / "signalled.py"
    script.write_text(SIGNALLED)
    with launcher.start_mpirun(2, [script]) as job:
        while job.stdout.count("ready") < 2:
            time.sleep(0.05)
        job.signal(signal.SIGUSR1)
        assert job.wait(timeout=10).returncode == 75


def test_job_does_not_outlive_tests_that_are_killed() -> None:
    result = launcher.run([sys.executable, "-c", KILLED])
    assert result.returncode == -signal.SIGKILL
    assert result.survivors == []
    assert not alive(int(result.stdout))


def test_a_job_can_be_interrupted_although_the_tests_cannot() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # as in the background
    try:
        with launcher.start(["sleep", "60"]) as job:
            job.signal(signal.SIGINT)
            assert job.wait(10).returncode == -signal.SIGINT
    finally:
        signal.signal(signal.SIGINT, before)
