"""Methods for eigenvectors: against their matrix form, and the pooled rows."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest

from pmgt_mpi.algorithms import EIGENVECTORS
from tests.reference.eigenvectors import REFERENCES
from tests.support.eigen_world import D, EigenCase
from tests.support.point_to_point import PointToPoint

STEPS = {
    "covariance": 1,
    "deepca": 250,
    "lanczos": 40,
    "shift-invert": 36,
    "lazysvd": 68,
}
"""With which each comes to rest on the small problem."""

OPTIONS = {"lazysvd": {"tolerance": 1e-8}}
"""For a vector to be done in fewer steps."""

ACCURACY = {"shift-invert": 1e-7, "lazysvd": 1e-7}
"""Of what is found after so many steps, where it is not rounding."""

FEW = {"covariance": 1, "lazysvd": 44}
"""In which it is held against its matrix form, if not in nine."""

SIZES = {"shift-invert": (1,), "lazysvd": (2,)}
"""k, where it is not 1, 3 and all."""

CASES = [(name, k) for name in EIGENVECTORS for k in SIZES.get(name, (1, 3, D))]

SKEWED = [(*case, False) for case in CASES] + [
    (name, 3, True) for name in EIGENVECTORS if name not in SIZES
]

every_solver = pytest.mark.parametrize("name", EIGENVECTORS)


def apart(a, b):
    """Largest distance of columns whose signs may differ."""
    cosines = np.einsum("ij,ij->j", a, b)
    return float(np.abs(a - b * np.sign(cosines)).max())


@pytest.mark.parametrize(("name", "k"), [case for case in CASES if case[1] < D])
def test_every_variable_is_that_of_the_matrix_form(comm, together, name, k):
    case = EigenCase(comm, k=k)
    method, start = case.method(name), case.problem.start
    if name == "lanczos":
        method = case.method(name, basis=3 * k)  # so that it starts anew at times
    state, states = method.init(case.agent, start), []
    for _ in range(steps := FEW.get(name, 9)):
        state = method.step(case.agent, state)
        known = {"V": method.solution(state), "values": method.found(state).values}
        states.append({**asdict(state), **known})
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


@pytest.mark.parametrize(("name", "k", "skewed"), SKEWED)
def test_it_finds_the_eigenvectors_of_the_pooled_rows(comm, together, name, k, skewed):
    case = EigenCase(comm, k=k, skewed=skewed)
    method, accuracy = case.method(name, **OPTIONS.get(name, {})), ACCURACY.get(name)
    state = method.init(case.agent, case.problem.start)
    for _ in range(STEPS[name]):
        state = method.step(case.agent, state)
    V = method.solution(state)
    inside = V.T @ (case.V * case.values) @ (case.V.T @ V)
    with together:
        assert np.abs(V.T @ V - np.eye(k)).max() < 1e-12
        rest = (case.V * case.values) @ (case.V.T @ V) - V @ inside
        assert np.abs(rest).max() < (accuracy or 1e-11) * case.values[0]
        if k < D:
            assert apart(V, case.V[:, :k]) < (accuracy or 1e-9)
            values = method.found(state).values
            known = 10 * accuracy if accuracy else 1e-10
            assert values == pytest.approx(case.values[:k], rel=known)
            assert method.found(state).residuals.max() < (accuracy or 1e-10)
            beyond = method.found(state).beyond
            assert beyond is None or case.values[k] < beyond < case.values[k - 1]
    everywhere = comm.gather(V)
    with together:
        for other in everywhere or []:
            assert apart(other, V) < (accuracy or 1e-10)
    case.close()


@every_solver
def test_a_step_costs_what_is_said(comm, together, name):
    case = EigenCase(comm, k=1 if name == "shift-invert" else 3)
    method, agent, gossip = case.method(name), case.agent, case.gossip
    state = method.init(agent, case.problem.start)
    parameters = asdict(method)
    letters = {"M": parameters["mix_rounds"], "b": parameters.get("batch_size")}
    scope = {"n": agent._problem.rows, **letters}
    spent, sent = [], gossip.sent
    for _ in range(3):
        before = agent.gradients, agent.gradients_paper, agent.passes, gossip.rounds
        state = method.step(agent, state)
        after = agent.gradients, agent.gradients_paper, agent.passes, gossip.rounds
        spent.append([b - a for a, b in zip(before, after, strict=True)])
    cost = method.traits.cost
    with together:
        n, paper = eval(cost.gradients, scope), eval(cost.paper, scope)
        rounds = eval(cost.rounds, scope) if comm.size > 1 else 0
        passes = n // agent._problem.rows
        if method.traits.in_stages:  # n, paper and rounds are those of an epoch
            (E, _), own, M = method.outer().epochs(0), agent._problem.rows, letters["M"]
            n, paper, passes = E * n + own, E * paper + own, 0
            rounds = E * rounds + M if comm.size > 1 else 0
        assert spent == [[n, paper, passes, rounds]] * 3
        messages = 3 * rounds * len(gossip.neighbourhood.neighbours)
        nbytes = 8 * cost.numbers(case.problem.shape) * messages
        assert gossip.sent == (sent.messages + messages, sent.bytes + nbytes)
    case.close()


@every_solver
def test_it_speaks_to_its_neighbours_alone(comm, together, name):
    case = EigenCase(comm, k=1, wire=PointToPoint(comm))
    method = case.method(name)
    state = method.init(case.agent, case.problem.start)
    for _ in range(4):
        state = method.step(case.agent, state)
    with together:
        assert case.gossip.rounds > 0 or comm.size == 1
    case.close()
