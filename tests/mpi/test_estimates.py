"""A problem that gives no constants: estimates, and `auto` that works with them."""

from __future__ import annotations

import numpy as np
import pytest

import pmgt_mpi
from pmgt_mpi.mpi.collective import AgreedError
from pmgt_mpi.parameters.estimates import estimated_constants
from pmgt_mpi.problems import PROBLEMS
from pmgt_mpi.regularizers.none import NoRegularizer
from pmgt_mpi.regularizers.shrinkage import L1
from tests.support.small_world import D, shards


class Bare:
    """A problem of the package, of which no more than the three methods is known."""

    def __init__(self, problem):
        self._problem = problem
        self.shape, self.rows = problem.shape, problem.rows

    def value(self, x):
        return self._problem.value(x)

    def grad(self, x):
        return self._problem.grad(x)

    def minibatch_grad(self, x, rows):
        return self._problem.minibatch_grad(x, rows)


def known(kind, collective, *, equal=False, **options):
    shard = shards(collective.agents, equal)[collective.agent]
    return PROBLEMS.load(kind)(shard, collective, **options), shard


def estimates(problem, collective, weight, x0=None, psi=None):
    x0 = np.zeros(problem.shape) if x0 is None else x0
    psi = psi or NoRegularizer()
    return estimated_constants(problem, psi, collective, weight, x0, seed=3)


@pytest.mark.parametrize("kind", ["ridge", "shift-invert-pca"])
def test_they_are_near_those_of_a_quadratic(kind, collective, together):
    options = {"l2": 0.1} if kind == "ridge" else {"ratio": 3.0}
    problem, shard = known(kind, collective, **options)
    exact = problem.constants(collective)
    found = estimates(Bare(problem), collective, shard.weight)
    everywhere = collective.gather(found)
    with together:
        assert everywhere == [found] * collective.agents
        assert found.estimated
        assert not found.convex
        near = {"L": 0.05, "sigma": 0.1, "zeta": 0.1, "nu": 0.1, "nu_local": 0.1}
        for name, error in near.items():
            expected = pytest.approx(
                getattr(exact, name), rel=error, abs=1e-3 * exact.L
            )
            assert getattr(found, name) == expected, name
        # All rows are looked at here, as there are few.
        assert 0.75 <= found.l1 / max(exact.l1, exact.l2) <= 1.01
        assert found.L_local >= 0.99 * exact.L_local
        assert found.mu_local == pytest.approx(exact.mu_local, abs=0.02 * exact.L_local)


def test_a_curvature_that_only_the_end_has_is_found(collective, together):
    """Far from its minimiser the pseudo-Huber loss is almost flat."""
    problem, shard = known("ridge", collective, l2=0.0)
    A = shard.A
    y = A @ np.full(D, 100.0) + shard.labels

    class PseudoHuber(Bare):
        def value(self, x):
            z = A @ x - y
            return float(np.sqrt(1 + z**2).mean() + 0.005 * x @ x)

        def grad(self, x):
            return self.minibatch_grad(x, np.arange(len(y)))

        def minibatch_grad(self, x, rows):
            z = A[rows] @ x - y[rows]
            return z / np.sqrt(1 + z**2) @ A[rows] / len(rows) + 0.01 * x

    start = np.zeros(D)
    z = A @ start - y
    flat = A.T @ (A * ((1 + z**2) ** -1.5)[:, None]) / len(y)
    at_start = collective.max(np.linalg.eigvalsh(flat)[-1]) + 0.01
    found = estimates(PseudoHuber(problem), collective, shard.weight)
    most = 0.01 + problem.constants(collective).L
    with together:
        assert 10 * at_start < found.L <= 1.01 * most


def test_the_rows_are_drawn_from_the_seed(collective, together):
    problem, shard = known("logistic", collective, l2=0.1)
    bare, psi = Bare(problem), L1(strength=0.01)
    first, again = (estimates(bare, collective, shard.weight, psi=psi) for _ in "ab")
    with together:
        assert first == again


def gradient(problem, collective, weight, x):
    return collective.sum(weight * problem.grad(x)) / collective.agents


@pytest.mark.parametrize("kind", ["ridge", "shift-invert-pca", "logistic"])
@pytest.mark.parametrize("algorithm", ["pmgt-katyushax", "pmgt-svrg", "nids"])
def test_auto_solves_a_problem_without_constants(
    comm, collective, together, kind, algorithm
):
    options = {"ratio": 3.0} if kind == "shift-invert-pca" else {"l2": 0.1}
    problem, shard = known(kind, collective, **options)
    result = pmgt_mpi.solve(
        Bare(problem), algorithm=algorithm, steps=20_000, gradient_mapping=1e-8,
        evaluate_every=10, comm=comm,
    )  # fmt: skip
    left = gradient(problem, collective, shard.weight, result.x)
    with together:
        assert result.status == "converged"
        assert np.linalg.norm(left) <= 1e-8
        assert any("the problem gives no constants" in note for note in result.notes)


@pytest.mark.parametrize("word", ["step_size", "momentum", "mix_rounds"])
def test_the_theory_refuses_estimates(comm, collective, together, word):
    problem, _ = known("ridge", collective, l2=0.1)
    algorithm = {"name": "pmgt-katyushax", word: "theory"}
    with together, pytest.raises(AgreedError) as refused:
        pmgt_mpi.solve(Bare(problem), algorithm=algorithm, comm=comm)
    with together:
        assert str(refused.value).startswith(
            f"pmgt-katyushax: {word} = 'theory' needs the constants L, l1, l2 and "
            "sigma, which the problem does not give; "
        )


def test_numbers_need_no_estimates(comm, collective, together, monkeypatch):
    from pmgt_mpi.execution import setup

    problem, _ = known("ridge", collective, l2=0.1)
    monkeypatch.setattr(setup, "estimated_constants", None)
    algorithm = {"name": "nids", "step_size": 0.01}
    result = pmgt_mpi.solve(Bare(problem), algorithm=algorithm, steps=2, comm=comm)
    with together:
        assert result.notes == []


def test_a_start_that_is_outside_of_the_domain(comm, collective, together):
    problem, _ = known("ridge", collective, l2=0.1)

    class Undefined(Bare):
        def grad(self, x):
            return np.full_like(x, np.nan if collective.agent == 0 else 1.0)

    with together, pytest.raises(AgreedError, match="is not finite at the start; take"):
        pmgt_mpi.solve(Undefined(problem), comm=comm)
