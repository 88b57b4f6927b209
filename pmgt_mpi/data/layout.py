"""Rows to the matrix that a problem works with."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np

from pmgt_mpi.data.rows import Rows

Layout = Literal["auto", "dense", "sparse"]
"""`auto` keeps what the source gives: LIBSVM is sparse, all others dense."""

CHUNK_NUMBERS = 1 << 18
"""Numbers of a dense matrix that are converted at once."""


def laid_out(rows: Rows, layout: Layout, *, owned: bool = False) -> Rows:
    """Return the rows in the layout asked for; `owned` ones may be emptied."""
    if layout == "dense" and rows.sparse:
        return to_dense(rows)
    if layout == "sparse" and not rows.sparse:
        return to_sparse(rows, owned=owned)
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


def to_sparse(rows: Rows, *, owned: bool = False) -> Rows:
    """Keep the entries that are not zero.

    The last rows come first: with `owned` their memory goes back to the system while
    the sparse arrays fill, so that a shard is never there twice.
    """
    assert rows.dense is not None
    count = max(1, CHUNK_NUMBERS // max(1, rows.columns))
    lengths = np.empty(len(rows), np.int64)
    for start in range(0, len(rows), count):
        part = rows.dense[start : start + count]
        lengths[start : start + count] = np.count_nonzero(part, axis=1)
    stop, end = len(rows), int(lengths.sum())
    indices, values = np.empty(end, np.int32), np.empty(end, rows.dense.dtype)
    while stop:
        start = (stop - 1) // count * count
        part = rows.dense[start:stop].copy()
        if owned:
            rows.dense.resize((start, rows.columns), refcheck=False)
        kept = part != 0
        first = end - int(lengths[start:stop].sum())
        indices[first:end] = np.nonzero(kept)[1]
        values[first:end] = part[kept]
        stop, end = start, first
    return replace(rows, dense=None, lengths=lengths, indices=indices, values=values)


def matrix(rows: Rows) -> Any:
    """Return the matrix: the dense array, or a scipy CSR array on the same memory."""
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
