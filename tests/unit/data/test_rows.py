from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pmgt_mpi.data.layout import matrix, to_dense, to_sparse
from pmgt_mpi.data.rows import Growing, GrowingRows, Rows


@pytest.fixture(params=["dense", "sparse"])
def rows(request: pytest.FixtureRequest) -> Rows:
    """12 × 5, row 3 and row 11 empty, labels 0 … 11."""
    random = np.random.default_rng(0)
    dense = random.integers(1, 9, (12, 5)) * random.integers(0, 2, (12, 5)).astype(
        float
    )
    dense[[3, 11]] = 0
    made = Rows(columns=5, dense=dense, labels=np.arange(12.0))
    return made if request.param == "dense" else to_sparse(made)


def dense(rows: Rows) -> np.ndarray:
    array = to_dense(rows).dense if rows.sparse else rows.dense
    assert array is not None
    return array


def test_a_part_is_a_view(rows: Rows) -> None:
    whole = dense(rows)
    for start in range(13):
        for stop in range(start, 13):
            part = rows.part(start, stop)
            assert len(part) == stop - start
            assert_array_equal(dense(part), whole[start:stop])
            assert_array_equal(part.labels, np.arange(start, stop))
    part = rows.part(2, 9)
    for name, array in part.arrays().items():
        assert np.shares_memory(array, rows.arrays()[name])


@pytest.mark.parametrize("count", [1, 5, 12, 99])
def test_pieces_make_up_the_rows(count: int, rows: Rows) -> None:
    pieces = list(rows.pieces(count))
    assert [len(piece) for piece in pieces[:-1]] == [count] * (len(pieces) - 1)
    assert_array_equal(np.concatenate([dense(p) for p in pieces]), dense(rows))
    assert list(rows.none().pieces(count)) == []


def test_taken_rows_come_in_the_order_asked_for(rows: Rows) -> None:
    whole = dense(rows)
    random = np.random.default_rng(1)
    for size in (0, 1, 5, 12, 30):
        order = random.integers(0, 12, size)
        taken = rows.take(order)
        assert_array_equal(dense(taken), whole[order])
        assert_array_equal(taken.labels, order)


def test_popped_rows_are_gone(rows: Rows) -> None:
    whole = dense(rows).copy()
    last = rows.pop(5)
    assert_array_equal(dense(last), whole[7:])
    assert_array_equal(dense(rows), whole[:7])
    assert_array_equal(rows.labels, np.arange(7))
    assert len(rows.pop(0)) == 0
    rows.pop(7)
    assert len(rows) == rows.entries == 0
    assert rows.nbytes == 0


def test_rows_grow_from_any_guess(rows: Rows) -> None:
    for guess in (0, 3, 12, 100):
        grown = GrowingRows(rows.none(), guess, guess)
        for start, stop in [(0, 1), (1, 1), (1, 8), (8, 12)]:
            grown.append(rows.part(start, stop))
        assert grown.entries == rows.entries
        result = grown.finish()
        assert_array_equal(dense(result), dense(rows))
        assert_array_equal(result.labels, rows.labels)
        assert all(array.flags.owndata for array in result.arrays().values())


def test_growing_keeps_to_its_array_and_cuts_it() -> None:
    grown = Growing(np.empty((0, 2), np.float32), 1)
    for number in range(100):
        grown.append(np.full((1, 2), number))
    array = grown.finish()
    assert array.shape == (100, 2)
    assert array.dtype == np.float32
    assert_array_equal(array[:, 1], np.arange(100))


def test_the_widest_rows_tell_the_columns() -> None:
    narrow = to_sparse(Rows(columns=2, dense=np.ones((1, 2))))
    wide = to_sparse(Rows(columns=4, dense=np.ones((1, 4))))
    for parts in ([narrow, wide], [wide, narrow]):
        grown = GrowingRows(narrow.none(), 2, 6)
        for part in parts:
            grown.append(part)
        assert grown.finish().columns == 4


def test_layouts_are_each_others_inverse(rows: Rows) -> None:
    there = to_dense(rows) if rows.sparse else to_sparse(rows)
    back = to_sparse(there) if rows.sparse else to_dense(there)
    assert back.sparse == rows.sparse
    for name, array in rows.arrays().items():
        assert_array_equal(back.arrays()[name], array)


def test_layouts_are_made_piece_by_piece(
    rows: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pmgt_mpi.data.layout.CHUNK_NUMBERS", 11)
    test_layouts_are_each_others_inverse(rows)


def test_owned_dense_rows_are_given_up_as_they_become_sparse(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pmgt_mpi.data.layout.CHUNK_NUMBERS", 11)
    A = np.random.default_rng(1).integers(0, 3, (12, 5)).astype(float)
    ours, theirs = Rows(columns=5, dense=A.copy()), Rows(columns=5, dense=A.copy())
    assert_array_equal(matrix(to_sparse(ours, owned=True)).toarray(), A)
    assert_array_equal(matrix(to_sparse(theirs)).toarray(), A)
    assert len(ours.dense) == 0
    assert_array_equal(theirs.dense, A)


def test_the_matrix_is_on_the_same_memory(rows: Rows) -> None:
    made = matrix(rows)
    assert made.shape == (12, 5)
    if not rows.sparse:
        assert made is rows.dense
        return
    assert type(made).__name__ == "csr_array"
    assert made.indptr.dtype == made.indices.dtype == np.int32
    assert np.shares_memory(made.data, rows.values)
    assert np.shares_memory(made.indices, rows.indices)
    assert made.has_sorted_indices
    assert_array_equal(made.toarray(), dense(rows))
