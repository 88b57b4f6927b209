"""Who is told to be stuck, and what ends the set-up."""

from __future__ import annotations

import os
import platform
from threading import Event
from time import monotonic
from types import SimpleNamespace

import pytest

from pmgt_mpi.clock import TICK
from pmgt_mpi.watchdog.signals import INTERRUPTED, Monitor
from pmgt_mpi.watchdog.watchdog import STUCK, Position, Watchdog
from tests.unit.problems.examples import alone

HERE = f"agent 0 on {platform.node()} (process {os.getpid()})"


@pytest.fixture
def monitor(monkeypatch):
    """A monitor that writes down how it would end the job."""
    monitor = Monitor(0, has_launcher=False, signals=False)
    monitor.ends, monitor.ended = [], Event()

    def end(code, message, *, courteous=True):  # noqa: ARG001
        monitor.ends.append((code, message))
        monitor.ended.set()

    monkeypatch.setattr(monitor, "end_job", end)
    return monitor


def gossip(entered=0.0, progress=0):
    return SimpleNamespace(
        entered=entered,
        progress=(entered, progress),
        neighbourhood=SimpleNamespace(neighbours=(1, 3)),
    )


def position(step, doing=""):
    here = Position()
    here.step, here.doing = step, doing
    return here


def test_an_agent_that_waits_too_long_in_a_mix_says_for_whom(monitor):
    watchdog = Watchdog(alone(), monitor, timeout=0.0)
    watchdog.watch("nids", gossip(entered=1.5), position(2))
    watchdog.look()
    assert monitor.ends == [], "it has only now begun to wait"
    watchdog.look()
    ((code, message),) = monitor.ends
    assert code == STUCK
    stuck, waits = message.split("\npmgt_mpi: ")
    assert stuck == "an agent is stuck, and this MPI cannot tell which"
    assert waits.startswith(f"{HERE} has waited ")
    assert waits.endswith(" for agents 1, 3 in a mix of nids, step 3")
    watchdog.close()


def test_an_agent_whose_mix_gets_on_does_not_wait(monitor):
    watchdog = Watchdog(alone(), monitor, timeout=0.0)
    for progress in range(4):
        watchdog.watch("nids", gossip(1.5, progress), position(2))
        watchdog.look()
    assert monitor.ends == []
    watchdog.close()


def test_an_agent_that_works_does_not_wait(monitor):
    watchdog = Watchdog(alone(), monitor, timeout=0.0)
    watchdog.watch("nids", gossip(), position(2))
    for _ in range(4):
        watchdog.look()
    assert monitor.ends == []
    watchdog.close()


def test_the_limit_of_time_ends_the_set_up_at_once(monitor):
    monitor.deadline = monotonic() + 0.05
    monitor.start()
    assert monitor.ended.wait(10 * TICK)
    monitor.close()
    code, message = monitor.ends[0]
    assert code == INTERRUPTED
    assert message == (
        "agent 0: --max-seconds are over during the set-up: ended, with nothing new to "
        "save"
    )


def test_once_algorithms_run_the_limit_is_left_to_the_loop(monitor):
    looked = Event()
    watchdog = Watchdog(alone(), monitor, timeout=60.0)
    watchdog.begin_algorithms()
    monitor.deadline = monotonic()
    monitor.look = looked.set
    monitor.start()
    assert looked.wait(10 * TICK), "it looks on"
    monitor.close()
    assert monitor.ends == []
    watchdog.close()
