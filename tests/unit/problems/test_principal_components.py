"""The covariance of rows, and the function whose minimum is principal components."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from pmgt_mpi.data.shard import Shard
from pmgt_mpi.errors import UserError
from pmgt_mpi.problems.covariance import Covariance
from pmgt_mpi.problems.principal_components import PrincipalComponents
from tests.unit.problems.examples import alone, make_rows

N, D, K = 40, 6, 2


def naive(A, centre):
    return sum(np.outer(a - centre, a - centre) for a in np.asarray(A)) / len(A)


def rows_of(form, tmp_path, A):
    if form == "csr":
        return csr_array(A)
    if form == "on disk":
        np.save(tmp_path / "A.npy", A)
        return np.load(tmp_path / "A.npy", mmap_mode="r")
    return A


@pytest.mark.parametrize("form", ["dense", "csr", "on disk"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("shape", [(N, D), (4, 30)])  # by its matrix, by its rows
@pytest.mark.parametrize("centred", [True, False])
def test_products_and_matrix_and_trace(form, dtype, shape, centred, tmp_path):
    A = make_rows(*shape).astype(dtype)
    centre = A.mean(axis=0, dtype=float) + 0.3 if centred else None
    wanted = naive(A.astype(float), 0.0 if centre is None else centre)
    V = np.random.default_rng(1).normal(size=(shape[1], 3))
    covariance = Covariance(rows_of(form, tmp_path, A), centre)
    assert covariance.trace() == pytest.approx(np.trace(wanted), rel=1e-12)
    np.testing.assert_allclose(covariance.product(V), wanted @ V, atol=1e-12)
    np.testing.assert_allclose(covariance.gram(), wanted, atol=1e-12)
    assert covariance.trace() == pytest.approx(np.trace(wanted), rel=1e-12)


def problem_of(A, **options):
    return PrincipalComponents(Shard(A, None, len(A), 1), alone(), **options)


def test_its_value_is_minus_the_variance_of_the_projections():
    A = make_rows(N, D)
    V = np.random.default_rng(2).normal(size=(D, K))
    Q = np.linalg.qr(V)[0]
    projected = (A - A.mean(axis=0)) @ Q
    assert problem_of(A, components=K).value(V) == pytest.approx(
        -np.sum(projected**2) / N, rel=1e-12
    )


def test_its_gradient_is_that_of_its_value():
    problem = problem_of(make_rows(N, D), components=K)
    rng = np.random.default_rng(3)
    V, step = rng.normal(size=(2, D, K))
    h = 1e-6
    slope = (problem.value(V + h * step) - problem.value(V - h * step)) / (2 * h)
    assert np.vdot(problem.grad(V), step) == pytest.approx(slope, rel=1e-7)
    everyone = problem.minibatch_grad(V, np.arange(N))
    np.testing.assert_allclose(everyone, problem.grad(V), atol=1e-12)


@pytest.mark.parametrize("size", [1e-1, 1e-5, 1e-9])
def test_its_excess_is_exact_for_small_angles_too(size):
    A = make_rows(N, D)
    problem = problem_of(A, components=K)
    values, vectors = np.linalg.eigh(np.cov(A.T, bias=True))
    values, vectors = values[::-1], vectors[:, ::-1]
    star = vectors[:, :K]
    # Turned in the planes of (1, 3) and (2, 4): the angles and the loss are known.
    sines = np.array([size, 0.3 * size])
    V = star * np.sqrt(1 - sines**2) + vectors[:, K : 2 * K] * sines
    lost = np.sum((values[:K] - values[K : 2 * K]) * sines**2)
    turned = V @ np.linalg.qr(np.random.default_rng(4).normal(size=(K, K)))[0]
    assert problem.bregman(turned, star) == pytest.approx(lost, rel=1e-5)
    told = problem.figures(turned, problem.value(turned), star)
    assert told["subspace_angle"] == pytest.approx(np.arcsin(size), rel=1e-5)
    share = (values[:K].sum() - lost) / values.sum()
    assert told["captured_variance"] == pytest.approx(share, rel=1e-12)


def test_more_components_than_there_can_be_are_refused():
    with pytest.raises(UserError) as told:
        problem_of(make_rows(4, D), components=5)
    assert str(told.value) == (
        "[problem] components = 5: there are 4 at most, as the data have 4 rows of 6 "
        "columns"
    )


@pytest.mark.parametrize("form", ["dense", "csr"])
def test_a_shifted_system_is_that_of_its_rows(form, tmp_path):
    A = make_rows(N, D)
    rng = np.random.default_rng(6)
    V = np.linalg.qr(rng.normal(size=(D, 2)))[0]
    P, c, w, z, z0 = np.eye(D) - V @ V.T, 3.0, *rng.normal(size=(3, D))
    problem = PrincipalComponents(
        Shard(rows_of(form, tmp_path, A), None, N, 1), alone(), components=K
    ).shifted(c, w, V)

    def mean(rows, x):
        parts = (A[rows] - A.mean(axis=0)) @ P
        return c * x - parts.T @ (parts @ x) / len(rows) - w

    everyone, some = np.arange(N), np.array([3, 7, 7, 1])
    np.testing.assert_allclose(problem.grad(z), mean(everyone, z), atol=1e-12)
    np.testing.assert_allclose(problem.minibatch_grad(z, some), mean(some, z))
    np.testing.assert_allclose(
        problem.minibatch_difference(z, z0, some), mean(some, z) - mean(some, z0)
    )
    h = 1e-5 * w
    slope = (problem.value(z + h) - problem.value(z - h)) / 2
    assert problem.grad(z) @ h == pytest.approx(slope, rel=1e-6)
