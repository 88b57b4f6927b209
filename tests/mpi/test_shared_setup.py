"""What two runs of a series share is set up once, and what differs is not shared."""

from __future__ import annotations

import tomllib
from dataclasses import replace

import numpy as np
import pytest

from pmgt_mpi.config.read import check_config
from pmgt_mpi.execution.series import with_stream
from pmgt_mpi.execution.shared_setup import SetUps
from pmgt_mpi.mpi.collective import AgreedError, Collective
from pmgt_mpi.watchdog.signals import Monitor
from pmgt_mpi.watchdog.watchdog import Watchdog
from tests.support.running import SMALL


@pytest.fixture
def set_ups(comm):
    monitor = Monitor(comm.rank, has_launcher=False, signals=False)
    watchdog = Watchdog(Collective(comm), monitor, 60.0)
    yield SetUps(Collective(comm), watchdog)
    watchdog.close()


CONFIG = check_config(tomllib.loads(SMALL), "here", ".")


def changed(section, **values):
    part = replace(getattr(CONFIG, section), **values)
    return replace(CONFIG, **{section: part})


def test_another_stream_shares_everything(set_ups, together):
    first = set_ups.ready(CONFIG)
    other = set_ups.ready(with_stream(CONFIG, 8))
    with together:
        assert other.fingerprint == first.fingerprint
        for part in ("problem", "reference", "comm", "x0"):
            assert getattr(other.setup, part) is getattr(first.setup, part)


def test_other_rows_are_loaded_and_the_ranks_stay_the_agents(set_ups, together):
    first = set_ups.ready(CONFIG)
    other = set_ups.ready(changed("data", seed=8))
    again = set_ups.ready(CONFIG)
    with together:
        assert other.fingerprint != first.fingerprint == again.fingerprint
        assert other.setup.problem is not first.setup.problem
        assert other.setup.comm is first.setup.comm
        assert (other.setup.problem.A.A != first.setup.problem.A.A).any()
        assert (again.setup.reference.x == first.setup.reference.x).all()


def test_another_network_keeps_rows_and_minimiser(set_ups, together, comm):
    first = set_ups.ready(CONFIG)
    other = set_ups.ready(changed("network", topology="complete"))
    with together:
        assert other.setup.problem is first.setup.problem
        assert other.setup.reference is first.setup.reference
        assert other.setup.comm is first.setup.comm
        assert len(other.setup.neighbourhood.neighbours) == comm.size - 1
        assert (other.fingerprint != first.fingerprint) == (comm.size > 3)


def test_another_problem_keeps_the_rows(set_ups, together):
    first = set_ups.ready(CONFIG)
    options = {**CONFIG.problem.options, "ratio": 5.0}
    other = set_ups.ready(changed("problem", options=options))
    with together:
        assert np.shares_memory(other.setup.problem.A.A, first.setup.problem.A.A)
        assert other.setup.constants != first.setup.constants


def test_what_was_refused_is_not_taken_for_made(set_ups, together):
    bad = changed("data", shares=[1.0] * 50)
    for _ in range(2):
        with pytest.raises(AgreedError, match="shares"):
            set_ups.ready(bad)
    ready = set_ups.ready(CONFIG)
    with together:
        assert ready.setup.reference is not None
