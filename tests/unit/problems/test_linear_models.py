from __future__ import annotations

import numpy as np
import pytest

from pmgt_mpi.problems import quadratic
from pmgt_mpi.problems.rows import DenseRows, rows_of
from tests.unit.problems import examples
from tests.unit.problems.examples import OPTIONS, make_problem, make_shard, naive_mean

KINDS = list(OPTIONS)
QUADRATIC = ["shift-invert-pca", "ridge"]
SIZES = [(40, 6), (7, 11), (2, 2), (200, 3)]

every_kind = pytest.mark.parametrize("kind", KINDS)
both_layouts = pytest.mark.parametrize("sparse", [False, True], ids=["dense", "csr"])
sizes = pytest.mark.parametrize(("n", "d"), SIZES)


def points(d: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    return rng.standard_normal(d), rng.standard_normal(d)


@every_kind
@both_layouts
@sizes
def test_value_gradient_and_hessian_are_those_of_the_rows(kind, sparse, n, d):
    shard = make_shard(n, d, sparse=sparse)
    problem = make_problem(kind, shard)
    x, _ = points(d)
    value, grad, hessian = naive_mean(kind, problem, shard, x)
    assert problem.value(x) == pytest.approx(value, rel=1e-13)
    np.testing.assert_allclose(problem.grad(x), grad, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(problem.hessian(x), hessian, rtol=1e-12, atol=1e-13)
    assert (problem.shape, problem.rows) == ((d,), n)


@every_kind
@both_layouts
def test_gradient_and_hessian_are_derivatives(kind, sparse):
    problem = make_problem(kind, make_shard(30, 5, sparse=sparse))
    x, direction = points(5)
    h = 1e-5
    ahead, behind = x + h * direction, x - h * direction
    slope = (problem.value(ahead) - problem.value(behind)) / (2 * h)
    assert problem.grad(x) @ direction == pytest.approx(slope, rel=1e-8)
    bend = (problem.grad(ahead) - problem.grad(behind)) / (2 * h)
    np.testing.assert_allclose(problem.hessian(x) @ direction, bend, rtol=1e-7)


@every_kind
@both_layouts
@sizes
def test_minibatch_counts_a_row_as_often_as_it_is_drawn(kind, sparse, n, d):
    shard = make_shard(n, d, sparse=sparse)
    problem = make_problem(kind, shard)
    x, _ = points(d)
    for rows in ([0, 0, 0], [n - 1, 0, n // 2, n - 1], [n // 2], [n // 2, n // 2]):
        drawn = np.array(rows)
        grad = naive_mean(kind, problem, shard, x, drawn)[1]
        np.testing.assert_allclose(
            problem.minibatch_grad(x, drawn), grad, rtol=1e-12, atol=1e-13
        )


@every_kind
@both_layouts
@sizes
def test_difference_is_that_of_two_minibatch_gradients(kind, sparse, n, d):
    shard = make_shard(n, d, sparse=sparse)
    problem = make_problem(kind, shard)
    w, w0 = points(d)
    rows = np.random.default_rng(0).integers(0, n, 9)
    expected = problem.minibatch_grad(w, rows) - problem.minibatch_grad(w0, rows)
    np.testing.assert_allclose(
        problem.minibatch_difference(w, w0, rows), expected, rtol=1e-11, atol=1e-13
    )


@every_kind
@both_layouts
def test_mean_of_minibatches_over_all_rows_is_the_gradient(kind, sparse):
    problem = make_problem(kind, make_shard(12, 4, sparse=sparse))
    x, _ = points(4)
    every_row = np.arange(12)
    np.testing.assert_allclose(
        problem.minibatch_grad(x, every_row), problem.grad(x), rtol=1e-12
    )
    mean = np.mean([problem.minibatch_grad(x, every_row[j : j + 1]) for j in range(12)])
    assert mean == pytest.approx(problem.grad(x).mean(), rel=1e-12)


@every_kind
@both_layouts
def test_slopes_and_combine_make_up_a_gradient(kind, sparse):
    problem = make_problem(kind, make_shard(15, 4, sparse=sparse))
    x, _ = points(4)
    rows = np.array([3, 3, 0, 14])
    table = problem.slopes(x)
    np.testing.assert_allclose(table[rows], problem.slopes(x, rows), rtol=1e-13)
    np.testing.assert_allclose(
        problem.combine(table[rows], rows) + problem.common_grad(x),
        problem.minibatch_grad(x, rows),
        rtol=1e-12,
    )
    np.testing.assert_allclose(
        problem.combine(table) + problem.common_grad(x), problem.grad(x), rtol=1e-12
    )


@pytest.mark.parametrize("kind", QUADRATIC)
@both_layouts
def test_second_moment_matrix_gives_what_the_rows_give(kind, sparse, monkeypatch):
    shard = make_shard(80, 5, sparse=sparse)
    by_matrix = make_problem(kind, shard)
    monkeypatch.setattr(quadratic, "DENSE_LIMIT", 4)
    by_rows = make_problem(kind, shard)
    x, x_star = points(5)
    assert by_rows.Q is None
    assert by_matrix.Q is None or by_matrix.Q.shape == (5, 5)
    monkeypatch.undo()
    by_matrix = make_problem(kind, shard)
    assert by_matrix.Q is not None
    assert by_rows.value(x) == pytest.approx(by_matrix.value(x), rel=1e-13)
    assert by_rows.bregman(x, x_star) == pytest.approx(
        by_matrix.bregman(x, x_star), rel=1e-12
    )
    np.testing.assert_allclose(by_rows.grad(x), by_matrix.grad(x), rtol=1e-12)
    np.testing.assert_allclose(by_rows.hessian(x), by_matrix.hessian(x), rtol=1e-12)


def test_matrix_is_made_only_where_it_saves_work():
    assert make_problem("ridge", make_shard(6, 5)).Q is not None
    assert make_problem("ridge", make_shard(5, 5)).Q is None
    sparse = make_shard(9, 5, sparse=True)
    assert sparse.A.nnz < 25
    assert make_problem("ridge", sparse).Q is None


@every_kind
@both_layouts
def test_what_is_given_back_stays_and_what_was_given_too(kind, sparse):
    problem = make_problem(kind, make_shard(20, 4, sparse=sparse))
    w, w0 = points(4)
    rows = np.array([1, 2, 1])
    kept = [v.copy() for v in (w, w0, rows)]
    first = [
        problem.grad(w),
        problem.minibatch_grad(w, rows),
        problem.minibatch_difference(w, w0, rows),
        problem.common_grad(w),
        problem.hessian(w),
    ]
    copies = [v.copy() for v in first]
    other = np.array([5, 6, 7])
    problem.grad(w0)
    problem.minibatch_grad(w0, other)
    problem.minibatch_difference(w0, w, other)
    for before, after in zip(copies, first, strict=True):
        np.testing.assert_array_equal(before, after)
    problem.hessian(w)[:] = 0.0
    np.testing.assert_array_equal(problem.hessian(w), copies[-1])
    for before, after in zip(kept, (w, w0, rows), strict=True):
        np.testing.assert_array_equal(before, after)


@every_kind
@both_layouts
def test_float32_stays_float32_and_close(kind, sparse):
    exact = make_problem(kind, make_shard(50, 4, sparse=sparse))
    single = make_problem(kind, make_shard(50, 4, sparse=sparse, dtype="float32"))
    w, w0 = points(4)
    small, small0 = w.astype(np.float32), w0.astype(np.float32)
    rows = np.array([4, 9, 4])
    for ours, theirs in (
        (single.grad(small), exact.grad(w)),
        (single.minibatch_grad(small, rows), exact.minibatch_grad(w, rows)),
        (
            single.minibatch_difference(small, small0, rows),
            exact.minibatch_difference(w, w0, rows),
        ),
    ):
        assert ours.dtype == np.float32
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5)
    # At a float64 point nothing but the data is rounded: the reference needs that.
    data = single.A.A if isinstance(single.A, DenseRows) else single.A.A.toarray()
    copy = make_shard(50, 4)
    copy.A[:] = data.astype(np.float64)
    same = make_problem(kind, copy)
    same.c = single.c
    assert single.value(w) == pytest.approx(same.value(w), rel=1e-13)
    np.testing.assert_allclose(single.grad(w), same.grad(w), rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(single.hessian(w), same.hessian(w), rtol=1e-12)


def test_float32_rows_are_converted_block_by_block(monkeypatch):
    monkeypatch.setattr("pmgt_mpi.problems.rows.BLOCK", 3)
    A = examples.make_rows(10, 4).astype(np.float32)
    rows, exact = rows_of(A), A.astype(np.float64)
    x, _ = points(4)
    s = np.random.default_rng(0).standard_normal(10)
    np.testing.assert_allclose(rows.dot(x), exact @ x, rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(rows.tdot(s), exact.T @ s, rtol=1e-13)
    np.testing.assert_allclose(rows.gram(), exact.T @ exact / 10, rtol=1e-13)
    weighted = (exact.T * s) @ exact / 10
    np.testing.assert_allclose(rows.gram(s), weighted, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(rows.squared_norms(), (exact**2).sum(axis=1))


@both_layouts
def test_rows_know_their_size(sparse):
    shard = make_shard(10, 4, sparse=sparse)
    rows = rows_of(shard.A)
    dense = shard.A.toarray() if sparse else shard.A
    assert rows.entries == (np.count_nonzero(dense) if sparse else 40)
    np.testing.assert_allclose(rows.squared_norms(), (dense**2).sum(axis=1))


def test_minibatches_of_one_length_share_a_buffer():
    rows = rows_of(examples.make_rows(10, 4))
    first, second = rows.gather(np.array([1, 2])), rows.gather(np.array([3, 4]))
    assert first is second
    np.testing.assert_array_equal(second.A, rows.A[[3, 4]])
    assert len(rows.gather(np.array([5])).A) == 1


def test_a_memory_map_is_read_in_place(tmp_path):
    np.save(tmp_path / "A.npy", examples.make_rows(10, 4))
    A = np.load(tmp_path / "A.npy", mmap_mode="r")
    rows = rows_of(A)
    assert np.shares_memory(rows.A, A)
    assert type(rows.gather(np.array([1, 2])).A) is np.ndarray
