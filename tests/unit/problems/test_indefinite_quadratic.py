"""Indefinite quadratics: what was asked for is what they are, row by row."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from scipy.sparse import csr_array

from pmgt_mpi.data.shard import Shard
from pmgt_mpi.errors import UserError
from pmgt_mpi.optimum.reference import minimise, suboptimality
from pmgt_mpi.problems.indefinite_quadratic import IndefiniteQuadratic
from pmgt_mpi.regularizers.none import NoRegularizer
from pmgt_mpi.regularizers.shrinkage import L1
from tests.unit.problems.examples import alone

approx = partial(pytest.approx, abs=0.0)


def gaussian(n, d, dtype="float64"):
    rows = np.random.default_rng(3).standard_normal((n, d)) + np.arange(d)
    return rows.astype(dtype)


def make(n=60, d=5, dtype="float64", A=None, **options):
    A = gaussian(n, d, dtype) if A is None else A
    return IndefiniteQuadratic(Shard(A, None, A.shape[0], 1), alone(), **options)


def components(problem):
    """H_j and b_j of every row as dense arrays, measured through single rows."""
    d, eye = problem.shape[0], np.eye(problem.shape[0])
    rows = [np.array([j]) for j in range(problem.rows)]
    b = [problem.minibatch_grad(np.zeros(d), j) for j in rows]
    H = [[problem.minibatch_grad(e, j) for e in eye] - b[j[0]] for j in rows]
    return np.array(H), np.array(b)


@pytest.mark.parametrize("condition", [1.0, 7.0, 1e4])
@pytest.mark.parametrize(("l1", "l2"), [(3.0, 3.0), (3.0, 40.0), (50.0, 2.0)])
@pytest.mark.parametrize("smoothness", [1.0, 0.5])
def test_the_constants_asked_for_are_those_measured(condition, l1, l2, smoothness):
    problem = make(condition=condition, l1=l1, l2=l2, smoothness=smoothness)
    H, _ = components(problem)
    rows = np.linalg.eigvalsh(H)
    mean = np.linalg.eigvalsh(H.mean(axis=0))
    assert [rows.min(), rows.max()] == approx([-l2, l1], rel=1e-12)
    assert mean[-1] == approx(smoothness, rel=1e-12)
    assert mean[-1] / mean[0] == approx(condition, rel=1e-9)
    found = problem.constants(alone())
    assert [found.l1, found.l2] == approx([l1, max(l1, l2)], rel=1e-14)
    assert [found.L, found.L_local] == approx([smoothness] * 2, rel=1e-12)
    assert found.sigma == approx(smoothness / condition, rel=1e-9)
    assert found.mu_local == found.sigma
    assert not found.convex


def test_the_components_are_indefinite():
    rows = np.linalg.eigvalsh(components(make(d=12))[0])
    assert np.all((rows[:, 0] < 0) & (rows[:, -1] > 0))


@pytest.mark.parametrize("power", [0.05, 1.0, 20.0])
def test_whatever_the_shape_of_the_columns(power):
    A = np.random.default_rng(0).random((500, 4)) ** power
    found = make(A=A, condition=30.0).constants(alone())
    assert found.L / found.sigma == approx(30.0, rel=1e-11)
    assert (found.l1, found.l2) == (10.0, 10.0)


def test_value_gradient_and_hessian_are_those_of_the_rows():
    problem = make(spread=3.0)
    H, b = components(problem)
    assert np.std(b, axis=0).min() > 0.01, "linear terms differ"
    x = np.random.default_rng(1).standard_normal(5)
    expected = np.mean([0.5 * x @ Hj @ x + bj @ x for Hj, bj in zip(H, b, strict=True)])
    assert problem.value(x) == approx(expected, rel=1e-13)
    np.testing.assert_allclose(problem.grad(x), (H @ x + b).mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(problem.hessian(x), H.mean(axis=0), atol=1e-13)
    np.testing.assert_allclose(H, H.transpose(0, 2, 1), atol=1e-13)
    assert np.abs(problem.hessian(x)[~np.eye(5, dtype=bool)]).min() > 1e-4
    assert (problem.shape, problem.rows) == ((5,), 60)


def test_gradients_are_derivatives():
    problem = make()
    x, direction = np.random.default_rng(1).standard_normal((2, 5))
    h = 1e-5
    slope = (problem.value(x + h * direction) - problem.value(x - h * direction)) / (
        2 * h
    )
    assert problem.grad(x) @ direction == approx(slope, rel=1e-9)


def test_minibatches_count_a_row_as_often_as_it_is_drawn():
    problem = make()
    H, b = components(problem)
    w, w0 = np.random.default_rng(2).standard_normal((2, 5))
    for rows in ([0, 0, 7], [59], list(range(60))):
        expected = np.mean([H[j] @ w + b[j] for j in rows], axis=0)
        found = problem.minibatch_grad(w, np.array(rows))
        np.testing.assert_allclose(found, expected, rtol=1e-12)
        expected = np.mean([H[j] @ (w - w0) for j in rows], axis=0)
        found = problem.minibatch_difference(w, w0, np.array(rows))
        np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("condition", [10.0, 1e4])
def test_minimiser_is_that_of_the_mean(condition):
    problem = make(condition=condition)
    constants = problem.constants(alone())
    found = minimise(problem, NoRegularizer(), alone(), 1.0, constants)
    assert found is not None
    assert found.residual <= 2e-15
    H, b = components(problem)
    direct = -np.linalg.solve(H.mean(axis=0), b.mean(axis=0))
    error = np.linalg.norm(found.x - direct) / np.linalg.norm(direct)
    assert error <= 1e-14 * condition
    assert np.linalg.norm(b.mean(axis=0)) == approx(1.0, rel=1e-12)


def test_with_l1_the_gradient_mapping_vanishes():
    problem, psi = make(d=8), L1(strength=0.3)
    found = minimise(problem, psi, alone(), 1.0, problem.constants(alone()))
    assert found is not None
    assert found.residual <= 2e-15
    assert 0 < np.count_nonzero(found.x) < 8


@pytest.mark.parametrize("size", [1e-9, 1e-3, 1.0])
def test_suboptimality_keeps_its_digits(size):
    problem, psi = make(), NoRegularizer()
    found = minimise(problem, psi, alone(), 1.0, problem.constants(alone()))
    assert found is not None
    step = size * np.arange(1.0, 6.0)
    excess = suboptimality(problem, psi, alone(), 1.0, found, found.x + step)
    H = components(problem)[0].mean(axis=0)
    # x is rounded: the step is off by up to 1e-16 |x| of 1e-9.
    assert excess == approx(0.5 * step @ H @ step, rel=1e-10 + 1e-13 / size)


def test_seed_spread_and_data_decide():
    x = np.ones(5)
    first = make().grad(x)
    np.testing.assert_array_equal(first, make().grad(x))
    for options in ({"seed": 1}, {"l1": 11.0}, {"A": gaussian(61, 5)}):
        assert not np.allclose(first, make(**options).minibatch_grad(x, np.arange(5)))
    H, b = components(make(spread=0.0))
    np.testing.assert_allclose(b, np.broadcast_to(b[0], b.shape), rtol=1e-13)
    assert len(H) == 60


def test_the_rows_are_left_as_they_were():
    A = gaussian(30, 3)
    kept = A.copy()
    make(A=A)
    np.testing.assert_array_equal(A, kept)


def test_single_precision():
    problem, exact = make(dtype="float32"), make()
    x, x0 = np.random.default_rng(1).standard_normal((2, 5))
    rows = np.arange(9)
    for point in (x, x.astype("float32")):
        dtype, other = point.dtype, x0.astype(point.dtype)
        assert problem.grad(point).dtype == dtype
        assert problem.minibatch_grad(point, rows).dtype == dtype
        difference = problem.minibatch_difference(point, other, rows)
        assert difference.dtype == dtype
        expected = exact.minibatch_difference(x, x0, rows)
        np.testing.assert_allclose(difference, expected, atol=2e-5)
    found = problem.constants(alone())
    assert found.L / found.sigma == approx(100.0, rel=1e-3)
    assert [found.l1, found.l2] == approx([10.0, 10.0], rel=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"l1": 1.0},
            "[problem] l1 = 1: components are curved more than their mean; expected "
            "more than smoothness = 1",
        ),
        (
            {"condition": 1e15},
            "[problem] condition = 1e+15: the smallest curvature of the mean, "
            "smoothness/condition = 1e-15, is lost in the rounding (float64) of "
            "components curved by up to 10; expected less than 4.5e+14, or smaller "
            "l1 and l2",
        ),
        (
            {"condition": 1e6, "dtype": "float32"},
            "[problem] condition = 1e+06: the smallest curvature of the mean, "
            "smoothness/condition = 1e-06, is lost in the rounding (float32) of "
            "components curved by up to 10; expected less than 8.4e+05, or smaller "
            "l1 and l2",
        ),
        (
            {"l2": 1e15},
            "[problem] condition = 100: the smallest curvature of the mean, "
            "smoothness/condition = 0.01, is lost in the rounding (float64) of "
            "components curved by up to 1e+15; expected less than 4.5, or smaller "
            "l1 and l2",
        ),
        (
            {"d": 1},
            "[problem] condition = 100: with one column there is one curvature; use "
            "data of at least 2 columns, or condition = 1",
        ),
        (
            {"A": csr_array(np.eye(3))},
            "problem 'indefinite-quadratic' needs dense rows, and these are sparse; "
            "set [data] layout = 'dense'",
        ),
        (
            {"A": np.column_stack([np.arange(4.0), np.ones(4)])},
            "problem 'indefinite-quadratic' makes curvatures of the columns, and "
            "column 1 has the same number in all rows; use data whose columns vary, "
            "such as the source 'gaussian'",
        ),
        (
            {"A": np.eye(4)},
            "problem 'indefinite-quadratic' cannot give column 0 curvatures in "
            "[-10, 10] with the mean 1: of 4 rows 3 have its smallest entry and 1 its "
            "largest; use more rows, data with more different numbers (the source "
            "'gaussian'), or other l1 and l2",
        ),
    ],
)
def test_what_cannot_be_made_is_refused(options, message):
    with pytest.raises(UserError) as told:
        make(**options)
    assert str(told.value) == message


def test_one_column_without_a_condition():
    found = make(d=1, condition=1.0).constants(alone())
    assert [found.L, found.sigma] == approx([1.0, 1.0], rel=1e-13)
