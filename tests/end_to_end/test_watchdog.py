"""An agent that does not come is named, and the job ends instead of hanging."""

from __future__ import annotations

import os
import signal
import time

import pytest

from tests.support.resuming import begin, checkpoint_number, ranks_of, wait_for
from tests.support.running import SMALL, Left, run_config

STUCK = 4
FOREVER = ("--set", "stop.steps=1000000", "--set", "run.timeout=2")


def messages(result) -> list[str]:
    """What the watchdog said, line by line."""
    result.expect(STUCK)
    assert "Traceback" not in result.stderr
    start = "pmgt_mpi: "
    return [s.removeprefix(start) for s in result.stderr.splitlines() if start in s]


@pytest.mark.parametrize("rank", [0, 2])
def test_a_stopped_rank_is_named_first_then_who_waits_for_whom(tmp_path, rank):
    with begin(tmp_path, *FOREVER) as job:
        wait_for(job, lambda: checkpoint_number(tmp_path) >= 2)
        pid = ranks_of(job)[rank]
        os.kill(pid, signal.SIGSTOP)
        result = job.wait(20)
    first, *others = messages(result)
    assert first.startswith(f"agent {rank} on ")
    assert f"(process {pid}) is stuck: it gives no answer" in first
    assert len(others) == 3
    for line in others:
        assert " s for agents " in line
        assert "pmgt-katyushax, step " in line
    neighbours = [line for line in others if line.startswith(f"agent {(rank + 1) % 4}")]
    assert f"{rank}" in neighbours[0].partition("for agents")[2]


def test_a_rank_that_is_stopped_in_the_set_up_is_named(tmp_path):
    (tmp_path / "asleep.py").write_text(ASLEEP)
    text = TEXT.replace("slow:Slow", "asleep:Asleep").replace('where = "{where}"\n', "")
    result = run_config(tmp_path, text, ranks=3, more=("--allow-plugins",))
    (line,) = messages(result)
    assert line.startswith("agent 2 on ")
    assert " is stuck in the set-up: it gives no answer, so it is stopped" in line


ASLEEP = """
import os, signal, time


class Asleep:
    def __init__(self, shard, collective):
        if collective.agent == 2:
            os.kill(os.getpid(), signal.SIGSTOP)
        time.sleep(5.5)  # at work for longer than the time limit, and well
"""

SLOW = '''
import time
import numpy as np


class Slow:
    """f_ij(x) = ½ ‖x − a_ij‖²; one agent falls asleep in a value or a gradient."""

    def __init__(self, shard, collective, *, where: str):
        self.A, self.rows, self.shape = shard.A, shard.rows, (shard.columns,)
        self.where = where if collective.agent == 1 else ""
        self.values = self.gradients = 0

    def value(self, x):
        self.values += 1
        if self.where == "value" and self.values == 4:
            time.sleep(60)
        return float(((self.A - x) ** 2).sum(axis=1).mean() / 2)

    def grad(self, x):
        self.gradients += 1
        if self.where == "grad" and self.gradients == 4:
            time.sleep(60)
        return x - self.A.mean(axis=0)

    def minibatch_grad(self, x, rows):
        return x - self.A[rows].mean(axis=0)
'''

TEXT = """
[run]
timeout = 2
[data]
source = "bernoulli"
rows = 60
columns = 4
[problem]
kind = "slow:Slow"
where = "{where}"
[[algorithm]]
name = "pg-extra"
step_size = 0.5
"""


@pytest.mark.parametrize(
    ("where", "doing"),
    [("value", "an evaluation of pg-extra, step 2"), ("grad", "pg-extra, step 2")],
)
def test_an_agent_that_is_at_work_for_too_long_is_named(tmp_path, where, doing):
    (tmp_path / "slow.py").write_text(SLOW)
    text = TEXT.format(where=where)
    result = run_config(tmp_path, text, ranks=3, more=("--allow-plugins",))
    first, *others = messages(result)
    assert first.startswith("agent 1 on ")
    assert f"it is still at work in {doing} " in first
    assert "raise [run] timeout, now 2 s" in first
    assert [line[: len("agent 0")] for line in others] == ["agent 0", "agent 2"]
    assert result.seconds < 20


@pytest.mark.parametrize(("engine", "rounds"), [("python", 300_000), ("auto", 600_000)])
def test_a_mix_may_take_longer_than_an_agent_may_wait(tmp_path, engine, rounds):
    """It runs all the time; what was told was that all wait for each other."""
    text = SMALL.partition("[[algorithm]]")[0]
    text += f'[[algorithm]]\nname = "destress"\nmix_rounds = {rounds}\n'
    text += "inner_rounds = 1\n"
    sets = ("run.timeout=2", "stop.steps=1", f"run.engine={engine}")
    run_config(tmp_path, text, ranks=3, set=sets).expect(0)
    (row, *_) = Left(tmp_path / "out").table("ranks.csv")
    assert float(row["comm_seconds"]) > 3, "one mix took nearly all of it"


def test_seconds_leave_out_the_time_in_which_the_job_was_stopped(tmp_path):
    sets = ("--set", "stop.steps=100000000", "--set", "evaluate.every=1000")
    with begin(tmp_path, *sets, "--set", "stop.seconds=6") as job:
        wait_for(job, lambda: checkpoint_number(tmp_path) >= 2)
        ranks = ranks_of(job).values()
        for number, seconds in [(signal.SIGSTOP, 5.0), (signal.SIGCONT, 0.0)]:
            for pid in ranks:
                os.kill(pid, number)
            time.sleep(seconds)
        start = time.monotonic()
        metrics = tmp_path / "out" / "metrics.jsonl"
        first_ended = '"algorithm": "pmgt-svrg"'
        wait_for(job, lambda: first_ended in metrics.read_text(), limit=20)
        passed = time.monotonic() - start
    # Six seconds of the algorithm's clock: if five of them had been those of the stop,
    # it would have ended one second after it.
    assert passed > 3


def test_a_job_that_is_stopped_as_a_whole_and_continues_has_not_waited(tmp_path):
    with begin(tmp_path, *FOREVER) as job:
        wait_for(job, lambda: checkpoint_number(tmp_path) >= 2)
        ranks = ranks_of(job).values()
        for number, seconds in [(signal.SIGSTOP, 4.0), (signal.SIGCONT, 3.0)]:
            for pid in ranks:
                os.kill(pid, number)
            time.sleep(seconds)
        number = checkpoint_number(tmp_path)
        wait_for(job, lambda: checkpoint_number(tmp_path) > number)
