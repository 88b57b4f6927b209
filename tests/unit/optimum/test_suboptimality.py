from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from pmgt_mpi.optimum.reference import Reference, minimise, suboptimality
from pmgt_mpi.regularizers.none import NoRegularizer
from pmgt_mpi.regularizers.shrinkage import L1
from tests.unit.problems.examples import OPTIONS, alone, make_problem, make_shard

approx = partial(pytest.approx, abs=0.0)


def solved(kind, psi, **layout):
    problem = make_problem(kind, make_shard(60, 6, **layout))
    reference = minimise(problem, psi, alone(), 1.0, problem.constants(alone()))
    assert reference is not None
    return problem, reference


@pytest.mark.parametrize("kind", list(OPTIONS))
@pytest.mark.parametrize("psi", [NoRegularizer(), L1(strength=0.2)], ids=repr)
@pytest.mark.parametrize("sparse", [False, True])
def test_far_away_it_is_the_plain_difference(kind, psi, sparse):
    problem, reference = solved(kind, psi, sparse=sparse)
    x = reference.x + np.random.default_rng(0).standard_normal(6)
    plain = problem.value(x) + psi.value(x) - reference.objective
    found = suboptimality(problem, psi, alone(), 1.0, reference, x)
    assert found == approx(plain, rel=1e-11)


@pytest.mark.parametrize("kind", list(OPTIONS))
@pytest.mark.parametrize("psi", [NoRegularizer(), L1(strength=0.2)], ids=repr)
def test_close_by_it_falls_with_the_square_of_the_distance(kind, psi):
    """F − F* = ½ dᵀ∇²f d for small d, far below the rounding of F."""
    problem, reference = solved(kind, psi)
    direction = np.where(reference.x == 0, 0.0, np.arange(1.0, 7.0))
    curvature = direction @ problem.hessian(reference.x) @ direction
    for size in (1e-5, 1e-7, 1e-9):
        found = suboptimality(
            problem, psi, alone(), 1.0, reference, reference.x + size * direction
        )
        # x is rounded: the step is off by up to 1e-16 |x| of 1e-9.
        assert found == approx(0.5 * size**2 * curvature, rel=1e-5 + 1e-15 / size)


def exact_bregman(kind, problem, shard, x, x_star):
    """f(x) − f(x*) − ⟨∇f(x*), x − x*⟩ from its definition, in fractions or decimals."""
    number = Decimal if kind == "logistic" else Fraction
    x = [number(float(v)) for v in x]
    x_star = [number(float(v)) for v in x_star]
    d = [a - b for a, b in zip(x, x_star, strict=True)]
    c = number(problem.c)
    total = number(0)
    for row, y in zip(shard.A.tolist(), problem.targets_list, strict=True):
        a, y = [number(v) for v in row], number(y)
        z = sum(p * q for p, q in zip(a, x, strict=True))
        z_star = sum(p * q for p, q in zip(a, x_star, strict=True))
        if kind == "logistic":
            e = (-y * z_star).exp()
            new = (1 + (-y * z).exp()).ln()
            total += new - (1 + e).ln() + y * e / (1 + e) * (z - z_star)
        else:
            kappa = number(int(problem.kappa))
            old, now = z_star - y, z - y
            total += kappa * (now * now / 2 - old * old / 2 - old * (z - z_star))
    return float(total / shard.rows + c * sum(v * v for v in d) / 2)


@pytest.mark.parametrize("kind", list(OPTIONS))
@pytest.mark.parametrize("size", [1e-9, 1e-3, 1.0])
def test_bregman_keeps_its_digits(kind, size):
    shard = make_shard(20, 4)
    problem = make_problem(kind, shard)
    problem.targets_list = np.broadcast_to(problem.targets(), 20).tolist()
    rng = np.random.default_rng(0)
    x_star = rng.standard_normal(4)
    x = x_star + size * rng.standard_normal(4)
    with localcontext() as context:
        context.prec = 80
        expected = exact_bregman(kind, problem, shard, x, x_star)
    assert problem.bregman(x, x_star) == approx(expected, rel=1e-13)
    assert problem.bregman(x, x_star) != 0.0


def test_without_bregman_it_is_the_plain_difference():
    class Parabola:
        shape, rows = (2,), 1

        def value(self, x):
            return float(x @ x)

        def grad(self, x):
            return 2 * x

        def minibatch_grad(self, x, rows):  # noqa: ARG002
            return 2 * x

    psi, x = L1(strength=1.0), np.array([3.0, -1.0])
    reference = Reference(np.zeros(2), -0.5, np.zeros(2), 0.0)
    found = suboptimality(Parabola(), psi, alone(), 1.0, reference, x)
    assert found == 10.0 + 4.0 + 0.5
