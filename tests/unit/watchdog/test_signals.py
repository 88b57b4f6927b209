"""What the monitor says when it ends a job."""

from __future__ import annotations

import os

import pytest

from pmgt_mpi.watchdog import signals
from pmgt_mpi.watchdog.signals import Monitor


def test_the_last_words_give_no_orders_to_a_terminal(monkeypatch, capfd):
    class EndedError(Exception):
        pass

    def end(code):
        raise EndedError(code)

    monkeypatch.setattr(os, "_exit", end)
    monkeypatch.setattr(signals, "sleep", lambda _: None)
    monitor = Monitor(0, has_launcher=False)
    with pytest.raises(EndedError, match="4"):
        monitor.end_job(4, "agent 0 in a mix of \x1b[31mred\x07\npmgt_mpi: agent 1 é")
    assert capfd.readouterr().err == (
        "pmgt_mpi: agent 0 in a mix of \\x1b[31mred\\x07\npmgt_mpi: agent 1 é\n"
    )
