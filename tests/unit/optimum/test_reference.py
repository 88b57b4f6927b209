from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize

from pmgt_mpi.data.shard import Shard
from pmgt_mpi.optimum import reference as reference_module
from pmgt_mpi.optimum.composite_quadratic import CompositeQuadratic
from pmgt_mpi.optimum.fista import fista
from pmgt_mpi.optimum.proximal_newton import ProximalNewton
from pmgt_mpi.optimum.reference import minimise
from pmgt_mpi.problems.base import Constants
from pmgt_mpi.regularizers.box import Box
from pmgt_mpi.regularizers.none import NoRegularizer
from pmgt_mpi.regularizers.shrinkage import L1, L2, ElasticNet
from tests.unit.problems.examples import OPTIONS, alone, make_problem, make_shard

EVERY_PSI = [
    NoRegularizer(),
    L1(strength=0.1),
    L2(strength=0.1),
    ElasticNet(l1=0.1, l2=0.1),
    Box(lower=-0.2, upper=0.3),
    Box(lower=1.0, upper=2.0),
]


def solve(problem, psi):
    found = minimise(problem, psi, alone(), 1.0, problem.constants(alone()))
    assert found is not None
    return found


@pytest.mark.parametrize("kind", list(OPTIONS))
@pytest.mark.parametrize("psi", EVERY_PSI, ids=repr)
@pytest.mark.parametrize("sparse", [False, True])
def test_the_gradient_mapping_vanishes(kind, psi, sparse):
    problem = make_problem(kind, make_shard(60, 8, sparse=sparse))
    found = solve(problem, psi)
    grad = problem.grad(found.x)
    np.testing.assert_allclose(found.grad, grad, rtol=1e-13)
    for eta in (0.01, 1.0):
        step = found.x - psi.prox(found.x - eta * grad, eta)
        assert np.linalg.norm(step) <= 1e-14 * max(1.0, np.linalg.norm(found.x))
    assert found.residual <= 2e-15
    assert found.objective == problem.value(found.x) + psi.value(found.x)


def test_pca_and_ridge_have_closed_forms():
    shard = make_shard(60, 8)
    A, n = shard.A, 60
    pca = make_problem("shift-invert-pca", shard, ratio=300.0)
    x_star = -np.linalg.solve(pca.c * np.eye(8) - A.T @ A / n, pca.b)
    np.testing.assert_allclose(solve(pca, NoRegularizer()).x, x_star, rtol=1e-9)
    ridge = make_problem("ridge", shard, l2=0.1)
    x_star = np.linalg.solve(A.T @ A / n + 0.6 * np.eye(8), A.T @ shard.labels / n)
    np.testing.assert_allclose(solve(ridge, L2(strength=0.5)).x, x_star, rtol=1e-12)


def test_one_step_and_its_rounding_for_a_quadratic(monkeypatch):
    problem = make_problem("shift-invert-pca", make_shard(60, 8), ratio=300.0)
    calls = []
    for name in ("grad", "hessian"):
        real = getattr(problem, name)
        monkeypatch.setattr(
            problem, name, lambda x, n=name, f=real: calls.append(n) or f(x)
        )
    solve(problem, NoRegularizer())
    assert calls.count("hessian") == 1
    assert calls.count("grad") <= 8


def test_box_against_scipy():
    shard = make_shard(60, 8)
    found = solve(make_problem("ridge", shard, l2=0.0), Box(lower=-0.2, upper=0.3))
    theirs = optimize.lsq_linear(shard.A, shard.labels, (-0.2, 0.3), tol=1e-14).x
    np.testing.assert_allclose(found.x, theirs, atol=1e-7)
    assert set(found.x) & {-0.2, 0.3}
    assert found.x.min() >= -0.2
    assert found.x.max() <= 0.3


@pytest.mark.parametrize("l1", [0.0, 0.02])
def test_logistic_against_scipy(l1):
    """With l1 as a smooth problem in the positive and the negative parts."""
    problem = make_problem("logistic", make_shard(60, 5), l2=0.01)

    def cost(parts):
        x = parts[:5] - parts[5:]
        g = problem.grad(x)
        return problem.value(x) + l1 * parts.sum(), np.append(g + l1, l1 - g)

    theirs = optimize.minimize(
        cost,
        np.zeros(10),
        jac=True,
        bounds=[(0, None)] * 10,
        method="L-BFGS-B",
        options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 5000},
    )
    found = solve(problem, L1(strength=l1))
    assert found.objective <= theirs.fun
    np.testing.assert_allclose(found.x, theirs.x[:5] - theirs.x[5:], atol=1e-6)


@pytest.mark.parametrize("strength", [1e-3, 0.05, 0.5, 1e3])
def test_lasso_has_exact_zeros_and_meets_its_conditions(strength):
    shard = make_shard(60, 30)
    found = solve(make_problem("ridge", shard, l2=0.0), L1(strength=strength))
    on = found.x != 0
    scale = np.abs(shard.A.T @ shard.labels).max() / 60
    np.testing.assert_allclose(
        found.grad[on], -strength * np.sign(found.x[on]), atol=1e-13 * scale
    )
    assert (np.abs(found.grad[~on]) <= strength).all()
    if strength == 1e3:
        assert not on.any()
    elif strength > 1e-2:
        assert 0 < on.sum() < 30


@pytest.mark.parametrize("kind", ["ridge", "logistic"])
@pytest.mark.parametrize("psi", [*EVERY_PSI, L1(strength=1e-4)], ids=repr)
def test_dependent_columns(kind, psi):
    """Without strong convexity: columns that are there twice, or are always 0."""
    rng = np.random.default_rng(3)
    A = rng.integers(0, 2, (80, 6)).astype(float)
    A = np.column_stack([A, A, 1 - A, np.zeros(80)])
    labels = np.where(A[:, 0] + rng.standard_normal(80) > 0.5, 1.0, -1.0)
    problem = make_problem(kind, Shard(A, labels, 80, 1), l2=0.0)
    found = solve(problem, psi)
    assert found.residual <= 1e-14
    assert np.abs(found.x).max() < 1e3


def test_separable_data_come_to_an_end():
    A = np.array([[1.0, 0.2], [-1.0, 0.1], [2.0, -0.3]])
    problem = make_problem("logistic", Shard(A, np.array([1, 0, 1.0]), 3, 1), l2=0.0)
    found = solve(problem, NoRegularizer())
    assert np.isfinite(found.x).all()
    assert found.residual <= 1e-12
    assert found.objective < 1e-10


def test_a_constant_function():
    problem = make_problem("ridge", Shard(np.zeros((3, 2)), np.ones(3), 3, 1), l2=0.0)
    found = solve(problem, NoRegularizer())
    assert found.x.tolist() == [0.0, 0.0]
    assert (found.objective, found.residual) == (0.5, 0.0)


def test_float32_rows_have_a_float64_minimiser():
    problem = make_problem("logistic", make_shard(60, 8, dtype="float32"))
    found = solve(problem, L1(strength=0.01))
    assert found.x.dtype == np.float64
    assert found.residual <= 2e-15


@pytest.mark.parametrize("kind", list(OPTIONS))
@pytest.mark.parametrize("psi", EVERY_PSI, ids=repr)
def test_many_columns_are_left_to_fista(kind, psi, monkeypatch):
    problem = make_problem(kind, make_shard(60, 8))
    exact = solve(problem, psi)
    monkeypatch.setattr(reference_module, "DENSE_LIMIT", 7)
    monkeypatch.setattr(problem, "hessian", None)
    found = solve(problem, psi)
    assert found.residual <= 1e-13
    np.testing.assert_allclose(found.x, exact.x, atol=1e-9 * np.abs(exact.x).max())


def test_fista_stops_when_told(monkeypatch):
    monkeypatch.setattr(reference_module, "DENSE_LIMIT", 7)
    monkeypatch.setattr(reference_module, "FISTA_ITERATIONS", 5)
    problem = make_problem("shift-invert-pca", make_shard(60, 8), ratio=1e4)
    assert 1e-10 < solve(problem, NoRegularizer()).residual < 1


def test_restarts_make_fista_linear_on_an_ill_conditioned_problem():
    h = np.logspace(-4, 0, 20)
    count = 0

    def grad(x):
        nonlocal count
        count += 1
        return h * x - 1

    x = fista(
        grad,
        NoRegularizer(),
        np.zeros(20),
        1.0,
        iterations=9000,
        target=lambda _: 1e-10,
    )
    np.testing.assert_allclose(h * x, 1.0, atol=1e-9)
    assert count < 6000


def test_a_problem_without_hessian_or_constants_has_none():
    class Bare:
        shape, rows = (1,), 1

        def value(self, x):
            return float(x @ x)

        def grad(self, x):
            return 2 * x

        def minibatch_grad(self, x, rows):  # noqa: ARG002
            return 2 * x

    constants = Constants(L=1, l1=1, l2=1, sigma=1, L_local=1)
    assert minimise(Bare(), NoRegularizer(), alone(), 1.0, constants) is None
    ridge = make_problem("ridge", make_shard(9, 2))
    assert minimise(ridge, NoRegularizer(), alone(), 1.0, None) is None


def test_a_user_s_problem_whose_x_is_a_matrix():
    """f(X) = ½‖BX − C‖² for a 3 × 2 matrix X, with its Hessian for X.ravel()."""
    rng = np.random.default_rng(0)
    B, C = rng.standard_normal((9, 3)), rng.standard_normal((9, 2))

    class Regression:
        shape, rows = (3, 2), 9

        def value(self, x):
            return 0.5 * float(np.sum((B @ x - C) ** 2))

        def grad(self, x):
            return B.T @ (B @ x - C)

        def hessian(self, x):  # noqa: ARG002
            return np.kron(B.T @ B, np.eye(2))

    L = float(np.linalg.norm(B, 2) ** 2)
    constants = Constants(L=L, l1=L, l2=L, sigma=0.0, L_local=L)
    found = minimise(Regression(), NoRegularizer(), alone(), 1.0, constants)
    np.testing.assert_allclose(
        found.x, np.linalg.lstsq(B, C, rcond=None)[0], rtol=1e-12
    )
    boxed = minimise(Regression(), Box(lower=0.0), alone(), 1.0, constants)
    assert boxed.residual <= 1e-15
    assert boxed.x.min() == 0.0


@pytest.mark.parametrize("psi", [NoRegularizer(), L2(strength=5.0)], ids=repr)
def test_newton_is_exact_where_prox_holds_nothing(psi):
    B = np.random.default_rng(0).standard_normal((15, 6))
    H, g = B.T @ B, B[0]
    model = CompositeQuadratic(H, g, np.ones(6), psi, float(np.linalg.norm(H, 2)))
    start = model.at(model.x)
    assert model.newton_step(start).residual <= 1e-10 * start.residual


@pytest.mark.parametrize("psi", [L1(strength=2.0), Box(lower=-0.02, upper=0.05)])
def test_newton_is_exact_where_it_knows_what_prox_holds(psi):
    rng = np.random.default_rng(0)
    B = rng.standard_normal((15, 6))
    H, g = B.T @ B, B.T @ rng.standard_normal(15)
    model = CompositeQuadratic(H, g, np.zeros(6), psi, float(np.linalg.norm(H, 2)))
    u = model.minimise(1e-13)
    held = psi.prox_slope(model.at(u).z, 1 / model.L) == 0
    assert 0 < held.sum() < 6
    close = model.at(u + 1e-5)
    new = model.newton_step(close)
    assert new.residual <= 1e-9 * close.residual
    np.testing.assert_array_equal(new.u[held], u[held])


def test_coordinate_descent_goes_down_and_survives_a_column_of_zeros():
    B = np.random.default_rng(0).standard_normal((15, 6))
    B[:, 2] = 0.0
    H, psi = B.T @ B, L1(strength=0.1)
    g = B.T @ np.ones(15)
    model = CompositeQuadratic(H, g, np.ones(6), psi, float(np.linalg.norm(H, 2)))
    u = model.x
    for _ in range(5):
        before, u = u, model.descend(u, 1)
        cost = [psi.value(v) + (v - 1) @ (g + 0.5 * H @ (v - 1)) for v in (before, u)]
        assert cost[1] < cost[0]
    assert u[2] == 0.0


@pytest.mark.parametrize(("start", "most"), [(0.5, 10), (3.0, 20), (-40.0, 800)])
def test_newton_s_steps_are_shortened_where_they_overshoot(start, most):
    """f = log cosh has its minimum at 0; from |x| > 1.09 full steps leave for ever."""
    asked = []

    def oracle(x):
        asked.append(x)
        return float(np.logaddexp(x[0], -x[0]) - np.log(2)), np.tanh(x)

    newton = ProximalNewton(
        oracle,
        lambda x: np.array([[1 - np.tanh(x[0]) ** 2]]),
        NoRegularizer(),
        L=1.0,
        origin=1.0,
    )
    assert abs(newton.minimise(np.array([start]))[0]) <= 1e-15
    assert len(asked) <= most


@pytest.mark.parametrize("seed", range(8))
def test_quadratics_with_l1_that_newton_alone_does_not_solve(seed):
    """Wide, ill-conditioned and singular: the tail of hard cases."""
    rng = np.random.default_rng(seed)
    B = rng.standard_normal((15, 40)) * np.logspace(0, -3, 40)
    H, g = B.T @ B, B.T @ rng.standard_normal(15)
    L = float(np.linalg.norm(H, 2))
    psi = L1(strength=1e-3 * np.abs(g).max())
    model = CompositeQuadratic(H, g, np.zeros(40), psi, L)
    u = model.minimise(1e-13)
    assert model.at(u).residual <= 1e-13


@pytest.mark.parametrize(
    ("name", "kind", "psi", "objective"),
    [
        ("w8a.bz2", "ridge", L1(strength=1e-3), 0.198626129306),
        ("a9a.bz2", "logistic", L1(strength=1e-4), 0.326898961969),
    ],
)
def test_real_data(name, kind, psi, objective, needs_data):
    datasets = pytest.importorskip("sklearn.datasets", reason="scikit-learn")
    from scipy.sparse import csr_array

    A, labels = datasets.load_svmlight_file(str(needs_data(name)))
    problem = make_problem(kind, Shard(csr_array(A), labels, A.shape[0], 1), l2=0.0)
    found = solve(problem, psi)
    assert found.residual <= 3e-15
    assert found.objective == pytest.approx(objective, rel=1e-11)
    assert 0 < np.count_nonzero(found.x) < len(found.x)
