from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from scipy.sparse import csr_array

from pmgt_mpi.data.shard import Shard
from pmgt_mpi.problems import spectrum
from tests.unit.problems.examples import (
    OPTIONS,
    alone,
    make_problem,
    make_shard,
)

approx = partial(pytest.approx, abs=0.0)


FACTORS = {"shift-invert-pca": -1.0, "ridge": 1.0, "logistic": 0.25}


def brute_force(kind, problem, A):
    """Largest and smallest curvature of single rows and of their mean."""
    d = A.shape[1]
    rows = [
        np.linalg.eigvalsh(problem.c * np.eye(d) + FACTORS[kind] * np.outer(a, a))
        for a in A
    ]
    mean = np.linalg.eigvalsh(problem.c * np.eye(d) + FACTORS[kind] * A.T @ A / len(A))
    return np.min(rows), np.max(rows), mean


@pytest.mark.parametrize("kind", list(OPTIONS))
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(("n", "d"), [(40, 5), (7, 11), (300, 2)])
def test_against_eigenvalues_of_every_row(kind, sparse, n, d):
    shard = make_shard(n, d, sparse=sparse)
    problem = make_problem(kind, shard)
    found = problem.constants(alone())
    A = shard.A.toarray() if sparse else shard.A
    low, high, mean = brute_force(kind, problem, A)
    assert found.l1 == approx(high, rel=1e-12)
    assert found.l2 == approx(max(high, -low), rel=1e-12)
    largest = np.abs(mean).max()
    assert [found.L, found.L_local] == approx([largest] * 2, rel=1e-12)
    # Where z is large the logistic loss is flat: only the l2 term is sure.
    sigma = OPTIONS[kind]["l2"] if kind == "logistic" else mean[0]
    assert found.sigma == approx(sigma, rel=1e-10)


def test_the_paper_s_second_constant_is_reached_by_long_rows():
    A = np.array([[9.0, 0.0], [0.1, 1.0], [0.0, 0.1], [0.0, 0.1]])
    problem = make_problem("shift-invert-pca", Shard(A, None, 4, 1))
    found = problem.constants(alone())
    assert found.l2 == approx(81.0 - problem.c, rel=1e-13)
    assert found.l2 > found.l1 == problem.c


@pytest.mark.parametrize("l2", [0.0, 0.25])
def test_strong_convexity_of_dependent_columns_is_that_of_l2(l2):
    A = np.random.default_rng(0).standard_normal((50, 3))
    A = np.column_stack([A, A @ [1.0, 2.0, 3.0]])
    problem = make_problem("ridge", Shard(A, A[:, 0].copy(), 50, 1), l2=l2)
    assert problem.constants(alone()).sigma == l2


def test_one_column_and_no_data():
    one = make_problem(
        "ridge", Shard(np.array([[2.0], [0.0]]), np.ones(2), 2, 1), l2=0.0
    )
    found = one.constants(alone())
    assert (found.L, found.l1, found.sigma, found.L_local) == (2.0, 4.0, 2.0, 2.0)
    none = make_problem("ridge", Shard(np.zeros((3, 2)), np.ones(3), 3, 1), l2=0.0)
    found = none.constants(alone())
    assert (found.L, found.l1, found.l2, found.sigma) == (0.0, 0.0, 0.0, 0.0)


@pytest.mark.parametrize("kind", list(OPTIONS))
@pytest.mark.parametrize("sparse", [False, True])
def test_lanczos_agrees_with_all_eigenvalues(kind, sparse, monkeypatch):
    rng = np.random.default_rng(0)
    A = rng.standard_normal((400, 30)) * np.linspace(2.0, 3.0, 30)
    A[:, 0] *= 2
    shard = Shard(csr_array(A) if sparse else A, np.sign(A[:, 0]), 400, 1)
    dense = make_problem(kind, shard)
    monkeypatch.setattr(spectrum, "DENSE_LIMIT", 29)
    lanczos = make_problem(kind, shard)
    assert lanczos.c == approx(dense.c, rel=1e-12)
    exact, found = dense.constants(alone()), lanczos.constants(alone())
    assert (found.l1, found.l2) == approx((exact.l1, exact.l2), rel=1e-12)
    # λ_d is a lower bound, so L is one from above and σ one from below.
    largest = dense.spectrum(alone()).largest
    assert exact.L - 1e-12 <= found.L <= exact.L + 3e-3 * largest
    assert exact.sigma - 3e-3 * largest <= found.sigma <= exact.sigma + 1e-12
    assert found.L_local >= exact.L_local - 1e-12
    if kind == "ridge":
        assert found.sigma > OPTIONS[kind]["l2"]


def test_lanczos_on_few_rows_and_on_zeros(monkeypatch):
    monkeypatch.setattr(spectrum, "DENSE_LIMIT", 3)
    A = np.random.default_rng(0).standard_normal((5, 20))
    found = make_problem("ridge", Shard(A, np.ones(5), 5, 1)).constants(alone())
    assert found.sigma == OPTIONS["ridge"]["l2"]
    zeros = make_problem("ridge", Shard(np.zeros((5, 20)), np.ones(5), 5, 1))
    found = zeros.constants(alone())
    assert [found.L, found.sigma] == [OPTIONS["ridge"]["l2"]] * 2


def test_constants_do_not_depend_on_the_precision_of_the_rows():
    exact = make_problem("ridge", make_shard(40, 5)).constants(alone())
    single = make_problem("ridge", make_shard(40, 5, dtype="float32")).constants(
        alone()
    )
    for name in ("L", "l1", "l2", "sigma", "L_local"):
        ours, theirs = getattr(single, name), getattr(exact, name)
        assert ours == approx(theirs, rel=1e-5)
