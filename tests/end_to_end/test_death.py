"""Ranks and launchers that are killed: the job ends soon, wherever it was."""

from __future__ import annotations

import os
import signal
import time

import pytest

from tests.support.resuming import begin, checkpoint_number, ranks_of, wait_for

LIMIT = 10.0
"""Seconds after which every process of the job is gone."""


@pytest.mark.parametrize(("rank", "checkpoints"), [(0, 0), (3, 2)])
def test_a_killed_rank_ends_the_job(tmp_path, rank, checkpoints):
    """In the set-up as well as later."""
    with begin(tmp_path, "--set", "stop.steps=1000000") as job:
        wait_for(job, lambda: len(ranks_of(job)) == 4)
        wait_for(job, lambda: checkpoint_number(tmp_path) >= checkpoints)
        os.kill(ranks_of(job)[rank], signal.SIGKILL)
        result = job.wait(LIMIT)
    assert result.returncode not in (0, 75)
    assert not result.survivors


def test_a_killed_launcher_takes_its_ranks_with_it(tmp_path):
    with begin(tmp_path, "--set", "stop.steps=1000000") as job:
        wait_for(job, lambda: checkpoint_number(tmp_path) >= 2)
        job.signal(signal.SIGKILL)
        end = time.monotonic() + LIMIT
        while ranks_of(job) and time.monotonic() < end:
            time.sleep(0.1)
        assert not ranks_of(job)
