"""How much rows and agents differ, against the Hessian of every row."""

from __future__ import annotations

import numpy as np
import pytest

from pmgt_mpi.problems import dissimilarity
from pmgt_mpi.problems.plus_square import PlusSquare
from tests.mpi.test_problem_constants import (
    FACTORS,
    D,
    N,
    linear_models,
    part,
    problem_of,
    whole,
)


def largest(matrix: np.ndarray) -> float:
    return float(np.linalg.eigvalsh(matrix)[-1])


NONE = -1.0
"""In place of None, which `approx` does not compare."""


def differences(H: list[list[np.ndarray]], *, convex: bool) -> list[float]:
    """ν, ν_local, γ and ζ of the Hessians of every row of every agent."""
    means = [np.mean(own, axis=0) for own in H]
    variances = [
        np.mean([h @ h for h in own], axis=0) - mean @ mean
        for own, mean in zip(H, means, strict=True)
    ]
    V, mean = np.mean(variances, axis=0), np.mean(means, axis=0)
    Z = np.mean([(own - mean) @ (own - mean) for own in means], axis=0)
    gamma = NONE
    if convex:
        values, vectors = np.linalg.eigh(mean)
        half = vectors / np.sqrt(values) @ vectors.T
        gamma = largest(half @ V @ half)
    squares = largest(V), max(map(largest, variances)), max(largest(Z), 0.0)
    nu, nu_local, zeta = np.sqrt(squares)
    return [nu, nu_local, gamma, zeta]


def found_of(constants) -> list[float]:
    gamma = NONE if constants.gamma is None else constants.gamma
    return [constants.nu, constants.nu_local, gamma, constants.zeta]


def expected_of(kind, problem, agents) -> list[float]:
    A, eye = whole()[0], np.eye(D)
    H = [
        [agents * len(block) / N * (problem.c * eye + FACTORS[kind] * np.outer(a, a))
         for a in block]
        for block in (A[part(agents, agent)] for agent in range(agents))
    ]  # fmt: skip
    return differences(H, convex=kind != "shift-invert-pca")


@linear_models
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_rows_and_agents_differ_as_their_hessians_do(
    kind, sparse, collective, together
):
    problem = problem_of(kind, collective, sparse=sparse)[0]
    found = found_of(problem.constants(collective))
    expected = expected_of(kind, problem, collective.agents)
    everywhere = collective.gather(found)
    scale = expected[0]
    with together:
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-6 * scale)
        assert everywhere == [found] * collective.agents


@linear_models
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_products_alone_are_enough(kind, sparse, collective, together, monkeypatch):
    monkeypatch.setattr(dissimilarity, "DENSE_LIMIT", D - 1)
    problem = problem_of(kind, collective, sparse=sparse)[0]
    found = found_of(problem.constants(collective))
    nu, nu_local, _, zeta = expected_of(kind, problem, collective.agents)
    everywhere = collective.gather(found)
    with together:
        expected = [nu, nu_local, NONE, zeta]
        assert found == pytest.approx(expected, rel=1e-2, abs=1e-6 * nu)
        assert everywhere == [found] * collective.agents


def test_curvatures_of_an_indefinite_quadratic(collective, together):
    problem = problem_of("indefinite-quadratic", collective)[0]
    found = found_of(problem.constants(collective))
    rows = collective.gather(problem.weight * problem.h.A)
    expected = differences([[np.diag(h) for h in own] for own in rows], convex=False)
    with together:
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_a_square_changes_no_difference(collective, together):
    problem = problem_of("ridge", collective)[0]
    before = problem.constants(collective)
    after = PlusSquare(problem, 0.5).constants(collective)
    with together:
        assert (after.nu, after.nu_local) == (before.nu, before.nu_local)
        assert after.gamma is None
