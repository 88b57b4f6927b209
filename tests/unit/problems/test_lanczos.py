"""Ends of spectra from products, against all eigenvalues."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import eigh

from pmgt_mpi.problems.lanczos import MOST_PRODUCTS, lanczos, largest, largest_relative

D = 150


def matrix(values, seed=1):
    Q, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(len(values),) * 2))
    return (Q * values) @ Q.T


@pytest.mark.parametrize(
    "values",
    [np.geomspace(1e-3, 1, D), np.linspace(-2, 1, D), np.r_[np.zeros(D - 5), 1:6]],
    ids=["geometric", "indefinite", "singular"],
)
def test_both_ends_lie_within_their_errors(values):
    asked = []
    A = matrix(values)
    ends = lanczos(lambda x: (asked.append(1), A @ x)[1], D, lambda _: False)
    assert len(asked) <= MOST_PRODUCTS
    rounding = 1e-12 * np.abs(values).max()
    assert (
        values.min() - rounding <= ends.low <= values.min() + ends.low_error + rounding
    )
    assert values.max() - ends.high_error - rounding <= ends.high
    assert ends.high <= values.max() + rounding
    assert ends.high_error <= 1e-6


def test_it_ends_where_nothing_is_new():
    asked = []
    ends = lanczos(lambda x: (asked.append(1), 3 * x)[1], D, lambda _: False)
    assert len(asked) == 1
    assert (ends.low, ends.high) == pytest.approx((3, 3))
    assert largest(np.zeros_like, D, 0.1) == 0.0


def test_from_above_and_from_below():
    values = np.linspace(0, 1, D)
    A = matrix(values)
    below, above = (largest(lambda x: A @ x, D, 0.1, above=up) for up in (False, True))
    assert 0.9 <= below <= 1 <= above <= 1.2


@pytest.mark.parametrize("condition", [1e2, 1e5])
def test_the_largest_ratio_of_two_forms(condition):
    rng = np.random.default_rng(3)
    A = rng.normal(size=(500, D)) * np.geomspace(1, 0.01, D)
    A *= rng.standard_t(3, size=(500, 1))
    V = (A.T * (A**2).sum(axis=1)) @ A / 500
    H = A.T @ A / 500
    H += np.linalg.eigvalsh(H)[-1] / condition * np.eye(D)
    exact = eigh(V, H, eigvals_only=True)[-1]
    asked = []
    found = largest_relative(
        lambda x: (asked.append(1), V @ x)[1], lambda x: H @ x, D, 1e-2
    )
    assert 0.85 * exact <= found <= exact * (1 + 1e-9)
    assert len(asked) <= MOST_PRODUCTS // 4 + 1
