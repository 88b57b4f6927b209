from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from pmgt_mpi.data.shard import Shard
from pmgt_mpi.errors import UserError
from pmgt_mpi.problems.pca import ShiftInvertPCA
from pmgt_mpi.problems.ridge import Ridge
from tests.unit.problems.examples import alone, make_rows

approx = partial(pytest.approx, abs=0.0)


def pca(A, **options):
    return ShiftInvertPCA(Shard(A, None, len(A), 1), alone(), **options)


@pytest.mark.parametrize("ratio", [0.5, 2.0, 300.0])
def test_shift_is_the_paper_s(ratio):
    A = make_rows(60, 5)
    *_, second, first = np.linalg.eigvalsh(A.T @ A / 60)
    problem = pca(A, ratio=ratio)
    assert problem.c == approx(first + (first - second) / ratio, rel=1e-13)
    sigma = problem.constants(alone()).sigma
    assert sigma == approx((first - second) / ratio, rel=1e-10)


def test_b_is_a_unit_vector_that_the_seed_decides():
    A = make_rows(60, 5)
    first, again, other = pca(A), pca(A), pca(A, b_seed=1)
    assert np.linalg.norm(first.b) == approx(1.0, rel=1e-15)
    np.testing.assert_array_equal(first.b, again.b)
    assert abs(first.b @ other.b) < 0.99
    leading = np.linalg.eigh(A.T @ A)[1][:, -1]
    assert abs(leading @ first.b) > 1e-3


def test_components_are_not_convex_but_their_mean_is():
    A = make_rows(60, 5)
    problem = pca(A)
    longest = np.argmax((A**2).sum(axis=1))
    a = A[longest]
    one = np.array([longest])
    along = problem.minibatch_difference(a, 0 * a, one) @ a
    assert along < 0
    assert np.linalg.eigvalsh(problem.hessian(a))[0] > 0


def test_equal_eigenvalues_are_refused():
    with pytest.raises(UserError) as told:
        pca(np.eye(3) * 3)
    assert str(told.value) == (
        "problem 'shift-invert-pca' needs an eigengap, and the two largest eigenvalues "
        "of the mean of a aᵀ are equal (3 and 3); use other data, or another "
        "[data] scale"
    )
    with pytest.raises(UserError, match=r"are equal \(0 and 0\)"):
        pca(np.zeros((4, 2)))


def test_a_strong_convexity_below_rounding_is_refused():
    A = make_rows(60, 5)
    with pytest.raises(UserError) as told:
        pca(A, ratio=1e15)
    top = np.linalg.eigvalsh(A.T @ A / 60)
    gap = top[-1] - top[-2]
    assert str(told.value) == (
        f"[problem] ratio = 1e+15: the strong convexity (λ_1 − λ_2)/ratio = "
        f"{gap / 1e15:.3g} is lost in the rounding of λ_1 = {top[-1]:.3g}; expected "
        f"less than {gap / (5 * 2.0**-52 * top[-1]):.2g}"
    )


def test_one_column_is_refused():
    with pytest.raises(UserError) as told:
        pca(np.ones((4, 1)))
    assert str(told.value) == (
        "problem 'shift-invert-pca' needs two eigenvalues, and the data have 1 column; "
        "use data of at least 2 columns"
    )


def test_ridge_needs_labels():
    with pytest.raises(UserError, match=r"^problem 'ridge' needs a label for each row"):
        Ridge(Shard(np.ones((3, 1)), None, 3, 1), alone())
