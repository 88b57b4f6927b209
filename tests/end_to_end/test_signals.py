"""Signals and wall-clock limits: all stop together, with a checkpoint, to continue."""

from __future__ import annotations

import os
import signal
import time

import pytest

from tests.launcher import ROOT, run, start, start_mpirun
from tests.support.resuming import (
    LONG,
    arguments,
    assert_same,
    begin,
    checkpoint_number,
    environment,
    ranks_of,
    resume,
    wait_for,
)
from tests.support.running import Left

NO_CADENCE = ("--set", "checkpoint.steps=0")
FOREVER = ("--set", "stop.steps=1000000")
INTERRUPTED = 75


def lines(folder) -> int:
    path = folder / "out" / "metrics.jsonl"
    return path.read_text().count("\n") if path.exists() else 0


def interrupt(folder, send, *more):
    """Start a run, let `send` signal it when it is under way; give its end."""
    with begin(folder, *NO_CADENCE, *more) as job:
        wait_for(job, lambda: lines(folder) >= 4)
        send(job)
        return job.wait(10)


def check_interrupted(folder, result, said):
    result.expect(INTERRUPTED)
    assert "Traceback" not in result.stdout + result.stderr
    assert said in result.stdout
    assert "continue with --resume out" in result.stdout
    assert Left(folder / "out").summary[-1]["status"] == "interrupted"
    assert checkpoint_number(folder) == 1


def test_usr1_on_mpirun_ends_with_a_checkpoint_and_the_run_continues(whole, tmp_path):
    result = interrupt(tmp_path, lambda job: job.signal(signal.SIGUSR1))
    check_interrupted(tmp_path, result, "interrupted (SIGUSR1 on agent ")
    resume(tmp_path).expect(0)
    assert_same(whole, tmp_path / "out")


def test_a_run_that_continues_has_not_ended(tmp_path):
    interrupt(tmp_path, lambda job: job.signal(signal.SIGUSR1)).expect(INTERRUPTED)
    assert (tmp_path / "out" / "summary.json").exists()
    args = arguments("--resume", "out", "--set", "stop.steps=100000")
    with start_mpirun(4, args, cwd=tmp_path, env=environment(tmp_path)) as job:
        before = lines(tmp_path)
        wait_for(job, lambda: lines(tmp_path) > before)
        assert not (tmp_path / "out" / "summary.json").exists()


@pytest.mark.parametrize(("number", "rank"), [("TERM", 3), ("INT", 1)])
def test_a_signal_on_any_one_rank_stops_all(tmp_path, number, rank):
    def send(job):
        os.kill(ranks_of(job)[rank], getattr(signal, f"SIG{number}"))

    result = interrupt(tmp_path, send, *FOREVER)
    said = f"interrupted (SIG{number} on agent {rank}) after step "
    check_interrupted(tmp_path, result, said)


def test_a_second_signal_ends_at_once_although_the_rank_is_blocked_in_mpi(tmp_path):
    with begin(tmp_path, "--set", "checkpoint.steps=10") as job:
        wait_for(job, lambda: checkpoint_number(tmp_path) >= 2)
        ranks = ranks_of(job)
        os.kill(ranks[1], signal.SIGSTOP)  # the others now wait for its messages
        time.sleep(0.5)
        os.kill(ranks[3], signal.SIGTERM)
        time.sleep(1.0)
        assert job.running(), "the first signal waits for the step, which does not end"
        start = time.monotonic()
        os.kill(ranks[3], signal.SIGTERM)
        result = job.wait(10).expect(INTERRUPTED)
        assert time.monotonic() - start < 5
    assert "agent 3: a second signal, SIGTERM: ended at once" in result.stderr


def test_term_on_plain_mpirun_tears_nothing(whole, tmp_path):
    with begin(tmp_path) as job:
        wait_for(job, lambda: checkpoint_number(tmp_path) >= 6)
        job.signal(signal.SIGTERM)
        assert job.wait(10).returncode != 0
    resume(tmp_path).expect(0)
    assert_same(whole, tmp_path / "out")


def test_checkpoints_are_written_by_the_clock_too(tmp_path):
    minutes = ("--set", "checkpoint.minutes=0.005")
    with begin(tmp_path, *NO_CADENCE, *FOREVER, *minutes) as job:
        wait_for(job, lambda: checkpoint_number(tmp_path) >= 3)
        os.kill(ranks_of(job)[1], signal.SIGKILL)
        assert job.wait(10).returncode != 0
    number = checkpoint_number(tmp_path)
    again = resume(tmp_path, "--max-seconds", "2").expect(INTERRUPTED)
    assert f"from checkpoint {number}: algorithm 1, step " in again.stdout


def test_a_signal_during_the_set_up_ends_at_once(tmp_path):
    with begin(tmp_path, "--set", "data.rows=8000000") as job:
        wait_for(job, lambda: len(ranks_of(job)) == 4)
        time.sleep(1.0)
        job.signal(signal.SIGUSR1)
        result = job.wait(10).expect(INTERRUPTED)
    assert "SIGUSR1 during the set-up: ended" in result.stderr
    assert not (tmp_path / "out").exists()


def test_max_seconds_stops_in_time(tmp_path):
    more = ("--max-seconds", "4", *FOREVER, *NO_CADENCE)
    with begin(tmp_path, *more) as job:
        result = job.wait(20)
    check_interrupted(
        tmp_path, result, "interrupted (--max-seconds: the next steps may take"
    )
    assert 2 < result.seconds < 5.5, "4 s, and the launcher's own start and end"
    before = Left(tmp_path / "out").metrics
    again = resume(tmp_path, "--max-seconds", "0.1").expect(INTERRUPTED)
    assert "--max-seconds are over during the set-up: ended" in again.stderr
    assert Left(tmp_path / "out").metrics == before


@pytest.mark.parametrize("value", ["0", "-1", "soon", "nan"])
def test_wrong_seconds_are_refused(tmp_path, value):
    with begin(tmp_path, "--max-seconds", value, ranks=1) as job:
        result = job.wait(20).expect(2)
    assert "--max-seconds: invalid positive value" in result.stderr


@pytest.mark.parametrize("name", ["TERM", "INT"])
def test_local_sh_turns_term_and_ctrl_c_into_a_checkpoint(tmp_path, name):
    (tmp_path / "config.toml").write_text(LONG)
    command = ["bash", str(ROOT / "launch" / "local.sh"), "-n", "3", "config.toml"]
    command += ["--out", "out", *NO_CADENCE, *FOREVER]
    with start(command, cwd=tmp_path, env=environment(tmp_path)) as job:
        wait_for(job, lambda: lines(tmp_path) >= 4)
        # To the whole process group, as a terminal does it.
        os.killpg(job.pid, getattr(signal, f"SIG{name}"))
        result = job.wait(15)
    check_interrupted(tmp_path, result, "interrupted (SIGUSR1 on agent ")


def test_local_sh_gives_the_exit_code_of_the_run(tmp_path):
    (tmp_path / "config.toml").write_text("[run\n")
    command = ["bash", str(ROOT / "launch" / "local.sh"), "-n", "2", "config.toml"]
    run(command, cwd=tmp_path).expect(2)
