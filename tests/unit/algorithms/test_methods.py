"""What every algorithm keeps to."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, asdict, is_dataclass

import numpy as np
import pytest
from mpi4py import MPI

from pmgt_mpi.agent import Agent
from pmgt_mpi.data.shard import Shard
from pmgt_mpi.gossip.exchange import PersistentExchange
from pmgt_mpi.gossip.gossip import Gossip
from pmgt_mpi.gossip.polynomials import chebyshev
from pmgt_mpi.graphs.neighbourhood import Neighbourhood
from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.problems.ridge import Ridge
from pmgt_mpi.regularizers.none import NoRegularizer
from tests.support.methods import METHODS

ALONE = Neighbourhood(0, 1, (), np.empty(0), 1.0, 0.0, 0.0)


def lone_agent():
    """A single agent with 30 rows."""
    rng = np.random.default_rng(4)
    A = rng.normal(size=(30, 6)) * np.linspace(0.5, 2, 6)
    shard = Shard(A, A @ np.array([1.0, -2, 0.05, 0, 3, 0.5]), 30, 1)
    problem = Ridge(shard, Collective(MPI.COMM_SELF), l2=0.1)
    return Agent(
        problem,
        NoRegularizer(),
        Gossip(MPI.COMM_SELF, ALONE, chebyshev, PersistentExchange),
        weight=1.0,
        n=30,
        seed=1,
        stream_name="alone",
        agent_id=0,
    )


@pytest.mark.parametrize("name", METHODS)
def test_parameters_are_frozen(name):
    with pytest.raises(FrozenInstanceError):
        METHODS[name].step_size = 1.0


@pytest.mark.parametrize("name", METHODS)
def test_a_state_holds_arrays_and_numbers_only(name):
    agent = lone_agent()
    state = METHODS[name].init(agent, np.zeros(6))
    for _ in range(3):
        assert is_dataclass(state)
        for key, value in asdict(state).items():
            assert type(value) in (np.ndarray, int, float)
            if isinstance(value, np.ndarray):
                assert value.dtype == np.float64
                assert value.shape in [(6,), (30,)], key
        assert METHODS[name].solution(state).shape == (6,)
        state = METHODS[name].step(agent, state)


@pytest.mark.parametrize("name", METHODS)
def test_a_method_that_starts_elsewhere_moves(name):
    agent = lone_agent()
    start = np.full(6, 0.5)
    state = METHODS[name].step(agent, METHODS[name].init(agent, start))
    assert np.abs(METHODS[name].solution(state) - start).max() > 1e-3
    assert (start == 0.5).all(), "x0 belongs to the caller"
