"""Mixing polynomials: mean kept, contraction as measured and as the theory says."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from pmgt_mpi.errors import UserError
from pmgt_mpi.gossip import MIXINGS
from pmgt_mpi.gossip.polynomials import (
    chebyshev,
    coefficients,
    contraction,
    contractions,
    fastmix,
    fastmix_optimal,
    plain,
    rounds_for,
)


def ring(m: int) -> np.ndarray:
    L = nx.laplacian_matrix(nx.cycle_graph(m)).toarray().astype(float)
    return np.eye(m) - L / np.linalg.eigvalsh(L)[-1]


def polynomial_of(W: np.ndarray, terms: np.ndarray) -> np.ndarray:
    before = now = np.eye(len(W))
    for c, d, e in terms:
        before, now = now, (c * W + d * np.eye(len(W))) @ now + e * before
    return now


def spectrum(W: np.ndarray) -> tuple[float, float]:
    eigenvalues = np.linalg.eigvalsh(W)
    return float(eigenvalues[-2]), float(eigenvalues[0])


@pytest.mark.parametrize("name", MIXINGS)
def test_terms_sum_to_one_so_that_the_mean_is_kept(name: str) -> None:
    terms = coefficients(MIXINGS.load(name), 12, 0.9, -0.3)
    np.testing.assert_allclose(terms.sum(axis=1), 1, rtol=0, atol=1e-14)


# Worst contraction after M rounds on a ring of 18 agents, measured independently.
MEASURED = {
    fastmix: (0.65, 0.41, 0.15, 0.049),
    fastmix_optimal: (0.61, 0.27, 0.037, 0.0044),
    chebyshev: (0.34, 0.060, 0.0018, 5.4e-5),
    plain: (0.86, 0.74, 0.54, 0.40),
}


@pytest.mark.parametrize("mixing", MEASURED)
def test_contraction_on_the_ring_of_18(mixing) -> None:
    W = ring(18)
    for M, expected in zip((5, 10, 20, 30), MEASURED[mixing], strict=True):
        P = polynomial_of(W, coefficients(mixing, M, *spectrum(W)))
        rho = np.linalg.norm(P - 1 / 18, 2)
        assert rho == pytest.approx(expected, rel=0.03)
        predicted = [
            rho
            for _, rho in zip(
                range(M), contractions(mixing, *spectrum(W)), strict=False
            )
        ]
        assert rho <= predicted[-1] * (1 + 1e-12)


def test_chebyshev_equals_its_closed_form_without_overflow() -> None:
    lambda_2, lambda_min, M = 0.6, 0.0, 5000
    terms = coefficients(chebyshev, M, lambda_2, lambda_min)
    assert np.isfinite(terms).all()
    # ρ_M = 1 / T_M(ζ) with T_M(ζ) = cosh(M arccosh ζ), compared by its rate.
    zeta = (1 - 0.3) / 0.3
    rho = [
        r for _, r in zip(range(40), contractions(chebyshev, 0.6, 0.0), strict=False)
    ]
    np.testing.assert_allclose(rho[39], 1 / np.cosh(40 * np.arccosh(zeta)), rtol=1e-9)


def test_one_chebyshev_round_is_exact_where_all_eigenvalues_agree() -> None:
    W = np.full((5, 5), 0.2) * 0.5 + 0.5 * np.eye(5)  # spectrum {1, 0.5}
    for M in (1, 2, 7):
        P = polynomial_of(W, coefficients(chebyshev, M, 0.5, 0.5))
        np.testing.assert_allclose(P, 0.2, rtol=0, atol=1e-14)


@pytest.mark.parametrize("mixing", MEASURED)
def test_rounds_for_is_the_smallest_number_that_contracts(mixing) -> None:
    M = rounds_for(mixing, 0.1, 0.9, 0.0)
    rho = [r for _, r in zip(range(M), contractions(mixing, 0.9, 0.0), strict=False)]
    assert rho[-1] <= 0.1
    assert all(r > 0.1 for r in rho[:-1])


def test_a_contraction_out_of_reach_is_refused_in_a_sentence() -> None:
    with pytest.raises(UserError, match=r"no number of mixing rounds up to 100000"):
        rounds_for(plain, 1e-300, 1 - 1e-9, 0.0)


@pytest.mark.parametrize("mixing", MEASURED)
def test_the_contraction_of_a_number_of_rounds(mixing) -> None:
    W = ring(9)
    for M in (1, 2, 11):
        P = polynomial_of(W, coefficients(mixing, M, *spectrum(W)))
        rho = np.linalg.norm(P - 1 / 9, 2)
        assert rho <= contraction(mixing, M, *spectrum(W)) * (1 + 1e-12)
    reached = contractions(mixing, 0.9, 0.1)
    assert [contraction(mixing, M, 0.9, 0.1) for M in (1, 2, 3)] == [
        next(reached) for _ in range(3)
    ]


def test_more_rounds_can_contract_less() -> None:
    """All agents connected, lazy weights: the spectrum is {1, 1/2}."""
    rho = [contraction(fastmix, M, 0.5, 0.5) for M in (35, 36)]
    assert rho == pytest.approx([4.4e-6, 9.6e-6], rel=0.01)
