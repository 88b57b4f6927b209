"""Rows to the matrix that a problem works with."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np

from pmgt_mpi.data.growing import GrowingRows
from pmgt_mpi.data.rows import Rows

Layout = Literal["auto", "dense", "sparse"]
"""`auto` keeps what the source gives: LIBSVM is sparse, all others dense."""

CHUNK_NUMBERS = 1 << 20
"""Numbers of a dense matrix that are converted at once."""


def laid_out(rows: Rows, layout: Layout) -> Rows:
    """Give the rows in the layout asked for."""
    if layout == "dense" and rows.sparse:
        return to_dense(rows)
    if layout == "sparse" and not rows.sparse:
        return to_sparse(rows)
    return rows


def to_dense(rows: Rows) -> Rows:
    """Write the stored entries into a matrix of zeros."""
    assert rows.values is not None
    dense = np.zeros((len(rows), rows.columns), rows.values.dtype)
    start = 0
    for part in rows.pieces(max(1, CHUNK_NUMBERS // rows.columns)):
        assert part.lengths is not None
        row = np.repeat(np.arange(start, start + len(part)), part.lengths)
        dense[row, part.indices] = part.values
        start += len(part)
    return replace(rows, dense=dense, lengths=None, indices=None, values=None)


def to_sparse(rows: Rows) -> Rows:
    """Keep the entries that are not zero."""
    grown: GrowingRows | None = None
    for part in rows.pieces(max(1, CHUNK_NUMBERS // rows.columns)):
        assert part.dense is not None
        row, indices = np.nonzero(part.dense)
        sparse = replace(
            part,
            dense=None,
            lengths=np.bincount(row, minlength=len(part)),
            indices=indices.astype(np.int32),
            values=part.dense[row, indices],
        )
        if grown is None:
            expected = sparse.entries * len(rows) // len(part)
            grown = GrowingRows(sparse, len(rows), expected)
        grown.append(sparse)
    assert grown is not None
    return grown.finish()


def matrix(rows: Rows) -> Any:
    """Give the matrix: the dense array, or a scipy CSR array on the same memory."""
    if rows.dense is not None:
        return rows.dense
    from scipy.sparse import csr_array

    assert rows.lengths is not None
    small = rows.entries <= np.iinfo(np.int32).max
    index = np.int32 if small else np.int64
    indptr = np.zeros(len(rows) + 1, index)
    np.cumsum(rows.lengths, out=indptr[1:])
    shape = (len(rows), rows.columns)
    return csr_array((rows.values, rows.indices, indptr), shape=shape)
