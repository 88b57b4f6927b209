"""Stops of the whole process: which ones the clocks leave out, and how exactly."""

from __future__ import annotations

import numpy as np
import pytest

from pmgt_mpi import clock
from pmgt_mpi.clock import SHORTEST, TICK, Clock, Stops
from tests.launcher import ROOT


@pytest.fixture
def now(monkeypatch):
    """The time, which is ours to set; the process uses no processor."""
    time = {"now": 100.0}
    monkeypatch.setattr(clock, "perf_counter", lambda: time["now"])
    monkeypatch.setattr(clock, "process_time", lambda: 0.0)
    monkeypatch.setattr(clock, "STOPS", Stops())
    return time


def seconds_counted(now, stop, offset):
    """What a clock says of 10 s of work with a stop somewhere between two looks."""
    now["now"] = start = 100.0
    clock.STOPS.begin()
    measured = Clock()
    with measured:
        looks = [start + TICK * k for k in range(1, 11)]
        begin = looks[3] + offset
        for look in looks:
            now["now"] = look if look <= begin else look + stop
            clock.STOPS.look()
    clock.STOPS.end()
    return measured.seconds


@pytest.mark.parametrize("offset", np.linspace(0, 0.99 * TICK, 5))
@pytest.mark.parametrize("stop", [2.01, 3.0, 60.0])
def test_a_stop_of_more_than_two_seconds_is_known_to_half_a_second(now, stop, offset):
    assert seconds_counted(now, stop, offset) == pytest.approx(10.0, abs=0.5 + 1e-9)


def test_a_short_stop_is_counted_as_the_documents_say(now):
    assert seconds_counted(now, 0.9, 0.5) == pytest.approx(10.9)
    text = " ".join((ROOT / "docs" / "robustness.md").read_text().split())
    told = f"no clock counts the time of a stop of more than {SHORTEST:g} s, which"
    assert f"{told} is known to half a second; a shorter one may be counted" in text
