"""f_i + (ε/2)‖x‖²: a linear model's own way, and the wrapper for all others."""

from __future__ import annotations

import numpy as np
import pytest

from pmgt_mpi.problems.plus_square import OPTIONAL, PlusSquare, plus_square
from tests.unit.problems.examples import OPTIONS, alone, make_problem, make_shard

EPSILON = 0.7


def sums(kind, sparse=False):
    """f_i, and f_i + (ε/2)‖x‖² in both ways."""
    problem = make_problem(kind, make_shard(40, 6, sparse=sparse))
    problem.grad(np.ones(6))  # makes Q, where there is one
    return problem, plus_square(problem, EPSILON), PlusSquare(problem, EPSILON)


@pytest.mark.parametrize("kind", list(OPTIONS))
@pytest.mark.parametrize("sparse", [False, True])
def test_both_ways_add_the_term_to_everything(kind, sparse):
    problem, own, wrapped = sums(kind, sparse)
    assert type(own) is type(problem), "a linear model stays one"
    w, w0 = np.random.default_rng(0).standard_normal((2, 6))
    rows = np.array([3, 3, 17])
    before = problem.grad(w)
    for f in (own, wrapped):
        assert (f.shape, f.rows) == (problem.shape, problem.rows)
        expected = problem.value(w) + EPSILON / 2 * w @ w
        assert f.value(w) == pytest.approx(expected, rel=1e-13)
        np.testing.assert_allclose(f.grad(w), problem.grad(w) + EPSILON * w, rtol=1e-12)
        batch = problem.minibatch_grad(w, rows) + EPSILON * w
        np.testing.assert_allclose(f.minibatch_grad(w, rows), batch, rtol=1e-12)
        difference = batch - problem.minibatch_grad(w0, rows) - EPSILON * w0
        found = f.minibatch_difference(w, w0, rows)
        np.testing.assert_allclose(found, difference, rtol=1e-11)
        H = problem.hessian(w) + EPSILON * np.eye(6)
        np.testing.assert_allclose(f.hessian(w), H, rtol=1e-12, atol=1e-13)
        d = w - w0
        bregman = problem.bregman(w, w0) + EPSILON / 2 * d @ d
        assert f.bregman(w, w0) == pytest.approx(bregman, rel=1e-12)
    np.testing.assert_array_equal(problem.grad(w), before)


@pytest.mark.parametrize("kind", list(OPTIONS))
def test_the_constants_of_both_ways_agree(kind):
    problem, own, wrapped = sums(kind)
    exact, found = own.constants(alone()), wrapped.constants(alone())
    for name in ("L", "l1", "sigma", "L_local", "mu_local"):
        assert getattr(found, name) == pytest.approx(getattr(exact, name), rel=1e-12)
    assert found.l2 >= exact.l2 * (1 - 1e-12)
    assert exact.sigma == pytest.approx(problem.constants(alone()).sigma + EPSILON)


class Parabola:
    """½‖x‖², with what is needed and nothing more."""

    shape, rows = (2, 2), 3

    def value(self, x):
        return 0.5 * float(np.vdot(x, x))

    def grad(self, x):
        return x.copy()

    def minibatch_grad(self, x, rows):  # noqa: ARG002
        return x.copy()


def test_a_user_s_problem_gets_no_method_that_it_has_not():
    f = plus_square(Parabola(), 1.0)
    x = np.arange(4.0).reshape(2, 2)
    assert f.value(x) == 14.0
    np.testing.assert_array_equal(f.grad(x), 2 * x)
    np.testing.assert_array_equal(f.minibatch_grad(x, np.arange(2)), 2 * x)
    assert not any(hasattr(f, name) for name in OPTIONAL)
    assert f.grad(x.astype("float32")).dtype == np.float32
