from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pmgt_mpi.data.layout import to_dense, to_sparse
from pmgt_mpi.data.rows import Rows
from pmgt_mpi.data.scaling import minmax, none, standard, unit
from pmgt_mpi.errors import UserError
from pmgt_mpi.mpi.collective import Collective

Scale = Callable[[Collective, Rows, int], None]


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pmgt_mpi.data.scaling.CHUNK_ENTRIES", 17)


def table() -> np.ndarray:
    """Columns: any, not negative with zeros, constant 0.1, all zero, one large."""
    stream = np.random.default_rng(0)
    A = stream.standard_normal((50, 5)) * 3 + 7
    A[:, 1] = np.maximum(stream.standard_normal(50), 0)
    A[:, 2] = 0.1
    A[:, 3] = 0
    A[:, 4] *= 1e6
    return A


def rows_of(A: np.ndarray) -> Rows:
    return Rows(columns=A.shape[1], dense=A.copy())


def dense(rows: Rows) -> np.ndarray:
    array = to_dense(rows).dense if rows.sparse else rows.dense
    assert array is not None
    return array


@pytest.mark.parametrize("scale", [none, minmax, standard, unit])
def test_it_is_done_in_place(scale: object, alone: Collective) -> None:
    rows = rows_of(table())
    array = rows.dense
    assert callable(scale)
    assert scale(alone, rows, 50) is None
    assert rows.dense is array


def test_none_changes_nothing(alone: Collective) -> None:
    rows = rows_of(table())
    none(alone, rows, 50)
    assert_array_equal(rows.dense, table())


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_minmax_fills_0_to_1_exactly(dtype: type, alone: Collective) -> None:
    rows = rows_of(table().astype(dtype))
    minmax(alone, rows, 50)
    assert rows.dense is not None
    assert rows.dense.dtype == dtype
    assert rows.dense.min(axis=0).tolist() == [0, 0, 0, 0, 0]
    assert rows.dense.max(axis=0).tolist() == [1, 1, 0, 0, 1]
    A = table().astype(dtype)
    expected = (A[:, 0] - A[:, 0].min()) / (A[:, 0].max() - A[:, 0].min())
    assert_array_equal(rows.dense[:, 0], expected)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_standard_gives_mean_0_and_deviation_1(dtype: type, alone: Collective) -> None:
    rows = rows_of(table().astype(dtype))
    standard(alone, rows, 50)
    assert rows.dense is not None
    assert rows.dense.dtype == dtype
    tolerance = 20 * np.finfo(dtype).eps
    assert_allclose(rows.dense.mean(axis=0), 0, atol=tolerance)
    assert_allclose(rows.dense.std(axis=0), [1, 1, 0, 0, 1], atol=tolerance)
    assert_array_equal(rows.dense[:, [2, 3]], 0)


@pytest.mark.parametrize("sparse", [False, True])
def test_unit_gives_rows_of_norm_1(sparse: bool, alone: Collective) -> None:
    A = table()
    A[7] = 0
    rows = to_sparse(rows_of(A)) if sparse else rows_of(A)
    unit(alone, rows, 50)
    norms = np.linalg.norm(dense(rows), axis=1)
    assert_allclose(np.delete(norms, 7), 1)
    assert norms[7] == 0
    scales = np.linalg.norm(A, axis=1)
    assert_allclose(dense(rows)[3], A[3] / scales[3])


EXTREMES = [
    (dtype, magnitude)
    for dtype in (np.float64, np.float32)
    for magnitude in (
        np.finfo(dtype).max / 4,
        np.sqrt(np.finfo(dtype).max),
        np.finfo(dtype).tiny,
        np.finfo(dtype).smallest_subnormal,
    )
]
"""Types, and magnitudes of numbers whose squares are no numbers of that type."""


def scaled(scale: Scale, A: np.ndarray, sparse: bool, alone: Collective) -> np.ndarray:
    rows = to_sparse(rows_of(A)) if sparse else rows_of(A)
    scale(alone, rows, len(A))
    assert dense(rows).dtype == A.dtype
    return dense(rows)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(("dtype", "magnitude"), EXTREMES)
def test_unit_has_no_row_too_large_or_too_small(
    dtype: type, magnitude: float, sparse: bool, alone: Collective
) -> None:
    A = np.array([[3, 0, -4], [0, 2, 0], [0, 0, 0], [4, 4, 4]], dtype)
    A[[0, 1, 3]] *= dtype(magnitude)
    expected = [[0.6, 0, -0.8], [0, 1, 0], [0, 0, 0], [3**-0.5] * 3]
    found = scaled(unit, np.vstack([A, np.eye(3, dtype=dtype)]), sparse, alone)
    assert_allclose(found[:4], expected, rtol=4 * np.finfo(dtype).eps)
    assert_array_equal(found[4:], np.eye(3))


@pytest.mark.parametrize(("dtype", "magnitude"), EXTREMES)
def test_columns_may_be_of_any_magnitude(
    dtype: type, magnitude: float, alone: Collective
) -> None:
    A = np.array([[-4, 1, 4, 0], [4, 2, 4, 0], [4, 3, 4, 0], [-4, 0, 4, 0]], dtype)
    A[:, [0, 2]] *= dtype(magnitude)
    A[:, 3] = [0, 0, 0, magnitude]
    assert_array_equal(
        scaled(minmax, A, False, alone)[:, [0, 2, 3]],
        [[0, 0, 0], [1, 0, 0], [1, 0, 0], [0, 0, 1]],
    )
    low, high = -(3**-0.5), 3**0.5
    assert_allclose(
        scaled(standard, A, False, alone)[:, [0, 2, 3]],
        [[-1, 0, low], [1, 0, low], [1, 0, low], [-1, 0, high]],
        rtol=4 * np.finfo(dtype).eps,
    )


@pytest.mark.parametrize(("dtype", "magnitude"), EXTREMES)
def test_columns_of_sparse_rows_may_be_of_any_magnitude(
    dtype: type, magnitude: float, alone: Collective
) -> None:
    A = np.array([[-4, 1, 0], [4, 0, 0], [2, 4, 0]], dtype) * dtype(magnitude)
    found = scaled(minmax, A, True, alone)
    assert_array_equal(found, [[0, 0.25, 0], [1, 0, 0], [0.75, 1, 0]])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_numbers_of_ordinary_size_keep_the_bits_of_the_plain_formulas(
    dtype: type, alone: Collective
) -> None:
    A = table().astype(dtype)
    norms = np.sqrt(np.einsum("ij,ij->i", A, A))
    assert_array_equal(scaled(unit, A, False, alone), A / norms[:, None])
    row, column = np.nonzero(A)
    norms = np.sqrt(np.bincount(row, A[row, column] ** 2)).astype(dtype)
    assert_array_equal(scaled(unit, A, True, alone), A / norms[:, None])
    centred = A - (A.sum(axis=0, dtype=float) / 50).astype(dtype)
    centred[:, [2, 3]] = 0
    squares = np.einsum("ij,ij->j", centred, centred, dtype=float) / 50
    squares[[2, 3]] = 1
    expected = centred / np.sqrt(squares).astype(dtype)
    assert_array_equal(scaled(standard, A, False, alone), expected)


def test_minmax_of_sparse_rows_is_that_of_dense_ones(alone: Collective) -> None:
    A = table()
    A[:, 0] -= 20  # full and negative: no zero is filled in
    expected = rows_of(A)
    minmax(alone, expected, 50)
    rows = to_sparse(rows_of(A))
    entries = rows.entries
    minmax(alone, rows, 50)
    assert_array_equal(dense(rows), expected.dense)
    assert rows.entries == entries


def test_minmax_that_would_fill_in_zeros_is_refused(alone: Collective) -> None:
    A = table()
    A[3, 1] = -1
    with pytest.raises(UserError) as caught:
        minmax(alone, to_sparse(rows_of(A)), 50)
    assert str(caught.value) == (
        "data.scale = 'minmax' would fill the zeros of column 1 (from 0), which has "
        "negative numbers too; take 'unit', or data.layout = 'dense'"
    )


def test_standard_of_sparse_rows_is_refused(alone: Collective) -> None:
    with pytest.raises(UserError) as caught:
        standard(alone, to_sparse(rows_of(table())), 50)
    assert str(caught.value) == (
        "data.scale = 'standard' would fill the zeros of sparse rows; take 'unit' or "
        "'minmax', or data.layout = 'dense'"
    )
