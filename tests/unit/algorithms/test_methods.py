"""What every registered algorithm keeps to, and that x* is where they stay."""

from __future__ import annotations

import inspect
import re
from dataclasses import FrozenInstanceError, asdict, fields, is_dataclass

import numpy as np
import pytest
from mpi4py import MPI

from pmgt_mpi.agent import Agent
from pmgt_mpi.algorithms import ALGORITHMS
from pmgt_mpi.collective import Collective
from pmgt_mpi.data.shard import Shard
from pmgt_mpi.gossip.exchange import PersistentExchange
from pmgt_mpi.gossip.gossip import Gossip
from pmgt_mpi.gossip.polynomials import chebyshev
from pmgt_mpi.graphs.neighbourhood import Neighbourhood
from pmgt_mpi.problems.reference import minimise
from pmgt_mpi.problems.ridge import Ridge
from pmgt_mpi.regularizers.l1 import L1
from pmgt_mpi.regularizers.none import NoRegularizer
from pmgt_mpi.runtime.checking import option_fields
from tests.support.methods import METHODS

ALONE = Neighbourhood(0, 1, (), np.empty(0), 1.0, 0.0, 0.0)


def lone_agent(psi):
    """A single agent, its problem and the collective of its own."""
    rng = np.random.default_rng(4)
    A = rng.normal(size=(30, 6)) * np.linspace(0.5, 2, 6)
    shard = Shard(A, A @ np.array([1.0, -2, 0.05, 0, 3, 0.5]), 30, 1)
    collective = Collective(MPI.COMM_SELF)
    problem = Ridge(shard, collective, l2=0.1)
    agent = Agent(
        problem,
        psi,
        Gossip(MPI.COMM_SELF, ALONE, chebyshev, PersistentExchange),
        weight=1.0,
        n=30,
        seed=1,
        label="alone",
        agent_id=0,
    )
    return agent, problem, collective


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
    agent, _, _ = lone_agent(NoRegularizer())
    state = METHODS[name].init(agent, np.zeros(6))
    for _ in range(3):
        assert is_dataclass(state)
        for value in asdict(state).values():
            assert type(value) in (np.ndarray, int, float)
            if isinstance(value, np.ndarray):
                assert value.dtype == np.float64
                assert value.shape == (6,)
        assert METHODS[name].solution(state).shape == (6,)
        state = METHODS[name].step(agent, state)


@pytest.mark.parametrize("name", ALGORITHMS)
@pytest.mark.parametrize("psi", [NoRegularizer(), L1(strength=0.3)])
def test_a_method_that_starts_at_the_minimiser_stays_there(name, psi):
    agent, problem, collective = lone_agent(psi)
    constants = problem.constants(collective)
    x_star = minimise(problem, psi, collective, 1.0, constants).x
    if isinstance(psi, L1):
        assert 0 < np.count_nonzero(x_star) < 6
    state = METHODS[name].init(agent, x_star)
    for _ in range(20):
        state = METHODS[name].step(agent, state)
        assert np.abs(METHODS[name].solution(state) - x_star).max() < 1e-13


@pytest.mark.parametrize("name", ALGORITHMS)
def test_a_method_that_starts_elsewhere_moves(name):
    agent, _, _ = lone_agent(NoRegularizer())
    start = np.full(6, 0.5)
    state = METHODS[name].step(agent, METHODS[name].init(agent, start))
    assert np.abs(METHODS[name].solution(state) - start).max() > 1e-3
    assert (start == 0.5).all(), "x0 belongs to the caller"
