"""What a step costs is what is counted, and what the method says that it costs."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest

from tests.support.methods import METHODS, TRAITS, fits
from tests.support.small_world import Case, D, kinds_for

STEPS = 12


def letters(name, agent, k, before):
    """Values of the letters in a method's formulas, for step k."""
    parameters = asdict(METHODS[name])
    T, coins, own_coins = before
    values = {
        "n": agent._problem.rows,
        "b": parameters.get("batch_size"),
        "M": parameters.get("mix_rounds"),
        "k": k,
        "T": sum(agent.T[T:]),
        "C": sum(agent.coins[coins:]),
        "Λ": sum(agent.own_coins[own_coins:]),
    }
    return values | {letter: parameters[p] for p, letter in TRAITS[name].letters}


@pytest.mark.parametrize("name", METHODS)
def test_every_step_costs_what_is_said(comm, together, name):
    if not fits(name, comm.size):
        return
    if not TRAITS[name].cost.rounds:
        pytest.skip(f"{name} states no costs (traits.cost)")
    case = Case(comm, "ridge", equal=False)
    agent, gossip, cost = case.agent, case.gossip, TRAITS[name].cost
    degree = len(gossip.neighbourhood.neighbours)

    def counts():
        sent = gossip.sent
        return np.array(
            [
                agent.gradients,
                agent.gradients_paper,
                gossip.rounds,
                sent.messages,
                sent.bytes,
            ]
        )

    state = METHODS[name].init(agent, np.full(D, 0.3))
    seen = []
    for k in range(STEPS):
        before = len(agent.T), len(agent.coins), len(agent.own_coins)
        start = counts()
        state = METHODS[name].step(agent, state)
        values = letters(name, agent, k, before)
        rounds = eval(cost.rounds, values) if comm.size > 1 else 0
        messages = degree * rounds
        said = [
            eval(cost.gradients, values),
            eval(cost.paper, values),
            rounds,
            messages,
            messages * cost.vectors * 8 * D,
        ]
        seen.append((said, (counts() - start).tolist()))
    with together:
        for k, (said, counted) in enumerate(seen):
            assert counted == said, f"step {k}"
    case.close()


class Metered:
    """A problem that counts the rows whose gradients it gives, and gives no more."""

    def __init__(self, problem):
        self._problem = problem
        self.shape, self.rows, self.gradients = problem.shape, problem.rows, 0

    def grad(self, x):
        self.gradients += self.rows
        return self._problem.grad(x)

    def minibatch_grad(self, x, rows):
        self.gradients += len(rows)
        return self._problem.minibatch_grad(x, rows)


@pytest.mark.parametrize("name", METHODS)
def test_every_gradient_that_is_taken_is_counted(comm, together, name):
    if not fits(name, comm.size) or TRAITS[name].linear:
        return  # whose single rows are counted one by one in tests/mpi/test_agent.py
    case = Case(comm, "ridge", equal=False, wrap=Metered)
    state = METHODS[name].init(case.agent, np.full(D, 0.3))
    for _ in range(STEPS):
        state = METHODS[name].step(case.agent, state)
    with together:
        assert case.agent.gradients == case.problem.gradients > 0, name
    case.close()


@pytest.mark.parametrize("name", METHODS)
def test_the_start_takes_no_gradient_twice(comm, together, name):
    if not fits(name, comm.size):
        return
    case = Case(comm, "ridge", equal=False)
    METHODS[name].init(case.agent, np.full(D, 0.3))
    spent = case.agent.gradients, case.agent.gradients_paper
    with together:
        assert spent in [(0, 0), (case.agent._problem.rows,) * 2]
    case.close()


@pytest.mark.parametrize("name", METHODS)
def test_one_agent_sends_nothing(comm, together, name):
    if comm.size > 1:
        return
    case = Case(comm, kinds_for(TRAITS[name])[0])
    state = METHODS[name].init(case.agent, np.full(D, 0.3))
    for _ in range(3):
        state = METHODS[name].step(case.agent, state)
    with together:
        assert (case.gossip.rounds, case.gossip.sent.messages) == (0, 0)
        assert case.gossip.sent.bytes == 0
    case.close()
