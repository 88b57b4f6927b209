"""What every registered algorithm keeps to."""

from __future__ import annotations

import inspect
import re
from dataclasses import FrozenInstanceError, asdict, fields, is_dataclass

import numpy as np
import pytest
from mpi4py import MPI

from pmgt_mpi.agent import Agent
from pmgt_mpi.algorithms import ALGORITHMS
from pmgt_mpi.config.checking import option_fields
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


def documented(method):
    """Names of the entries in the section Parameters of a class's docstring."""
    text = inspect.getdoc(method)
    section = re.search(r"Parameters\n-+\n(.*?)(\n\w+\n-+\n|\Z)", text, re.DOTALL)
    entries = re.findall(r"^(\S.*)$", section.group(1), re.MULTILINE)
    return {name.strip() for entry in entries for name in entry.split(",")}


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_option_is_documented_and_none_beside_them(name):
    method = ALGORITHMS.load(name)
    assert documented(method) == {field.name for field in fields(method)}
    assert set(option_fields(method)) == documented(method)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_option_has_a_default(name):
    method = ALGORITHMS.load(name)
    assert method() == method()
    assert all(default is not ... for _, default in option_fields(method).values())


@pytest.mark.parametrize("name", ALGORITHMS)
def test_parameters_are_frozen_and_a_source_is_cited(name):
    algorithm = METHODS[name]
    with pytest.raises(FrozenInstanceError):
        algorithm.step_size = 1.0
    assert "References\n----------\n" in inspect.getdoc(type(algorithm))
    assert name == inspect.getmodule(type(algorithm)).NAME


@pytest.mark.parametrize("name", ALGORITHMS)
def test_a_state_holds_arrays_and_numbers_only(name):
    agent = lone_agent()
    state = METHODS[name].init(agent, np.zeros(6))
    for _ in range(3):
        assert is_dataclass(state)
        for key, value in asdict(state).items():
            assert type(value) in (np.ndarray, int, float)
            if isinstance(value, np.ndarray):
                assert value.dtype == np.float64
                assert value.shape == ((30,) if key == "table" else (6,))
        assert METHODS[name].solution(state).shape == (6,)
        state = METHODS[name].step(agent, state)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_a_method_that_starts_elsewhere_moves(name):
    agent = lone_agent()
    start = np.full(6, 0.5)
    state = METHODS[name].step(agent, METHODS[name].init(agent, start))
    assert np.abs(METHODS[name].solution(state) - start).max() > 1e-3
    assert (start == 0.5).all(), "x0 belongs to the caller"
