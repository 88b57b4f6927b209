"""Methods for eigenvectors: against their matrix form, and the pooled rows."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest

from pmgt_mpi.algorithms import EIGENVECTORS
from tests.reference.eigenvectors import REFERENCES
from tests.support.eigen_world import D, EigenCase
from tests.support.point_to_point import PointToPoint

STEPS = {"covariance": 1, "deepca": 250, "lanczos": 40}
"""With which each comes to rest on the small problem."""

every_solver = pytest.mark.parametrize("name", EIGENVECTORS)


def apart(a, b):
    """Largest distance of columns whose signs may differ."""
    cosines = np.einsum("ij,ij->j", a, b)
    return float(np.abs(a - b * np.sign(cosines)).max())


@pytest.mark.parametrize("k", [1, 3])
@every_solver
def test_every_variable_is_that_of_the_matrix_form(comm, together, name, k):
    case = EigenCase(comm, k=k)
    method, start = case.method(name), case.problem.start
    if name == "lanczos":
        method = case.method(name, basis=3 * k)  # so that it starts anew at times
    state, states = method.init(case.agent, start), []
    for _ in range(steps := min(9, STEPS[name])):
        state = method.step(case.agent, state)
        found = method.found(state)._asdict()
        del found["V"]
        solution = {"V": method.solution(state)}
        states.append({**found, **solution, **asdict(state)})
    gathered = comm.gather(states)
    with together:
        if comm.rank == 0:
            reference = REFERENCES[name](case.world, start, steps, **asdict(method))
            for step, wanted in enumerate(reference):
                for key, value in wanted.items():
                    ours = np.array([part[step][key] for part in gathered])
                    error = np.abs(ours - value).max() / np.abs(value).max()
                    assert error < 1e-9, f"{key} after step {step}: {error:.1e}"
    case.close()


@pytest.mark.parametrize("skewed", [False, True])
@pytest.mark.parametrize("k", [1, 3, D])
@every_solver
def test_it_finds_the_eigenvectors_of_the_pooled_rows(comm, together, name, k, skewed):
    case = EigenCase(comm, k=k, skewed=skewed)
    method = case.method(name)
    state = method.init(case.agent, case.problem.start)
    for _ in range(STEPS[name]):
        state = method.step(case.agent, state)
    V = method.solution(state)
    inside = V.T @ (case.V * case.values) @ (case.V.T @ V)
    with together:
        assert np.abs(V.T @ V - np.eye(k)).max() < 1e-12
        rest = (case.V * case.values) @ (case.V.T @ V) - V @ inside
        assert np.abs(rest).max() < 1e-11 * case.values[0]
        if k < D:
            assert apart(V, case.V[:, :k]) < 1e-9
            values = method.found(state).values
            assert values == pytest.approx(case.values[:k], rel=1e-10)
            assert method.found(state).residuals.max() < 1e-10
    everywhere = comm.gather(V)
    with together:
        for other in everywhere or []:
            assert apart(other, V) < 1e-10
    case.close()


@every_solver
def test_a_step_costs_what_is_said(comm, together, name):
    case = EigenCase(comm)
    method, agent, gossip = case.method(name), case.agent, case.gossip
    state = method.init(agent, case.problem.start)
    parameters = asdict(method)
    letters = {letter: parameters[p] for p, letter in method.traits.letters}
    scope = {"n": agent._problem.rows, "M": parameters["mix_rounds"], **letters}
    spent = []
    for _ in range(3):
        before = agent.gradients, agent.gradients_paper, agent.passes, gossip.rounds
        state = method.step(agent, state)
        after = agent.gradients, agent.gradients_paper, agent.passes, gossip.rounds
        spent.append([b - a for a, b in zip(before, after, strict=True)])
    cost = method.traits.cost
    with together:
        n, paper = eval(cost.gradients, scope), eval(cost.paper, scope)
        rounds = eval(cost.rounds, scope) if comm.size > 1 else 0
        assert spent == [[n, paper, n // agent._problem.rows, rounds]] * 3
    case.close()


@every_solver
def test_it_speaks_to_its_neighbours_alone(comm, together, name):
    case = EigenCase(comm, wire=PointToPoint(comm))
    method = case.method(name)
    state = method.init(case.agent, case.problem.start)
    for _ in range(3):
        state = method.step(case.agent, state)
    with together:
        assert case.gossip.rounds > 0 or comm.size == 1
    case.close()
