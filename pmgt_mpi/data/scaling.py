"""Scaling of the features, in place; what it needs of all rows goes by collectives."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.collective import Collective
from pmgt_mpi.data.rows import Rows
from pmgt_mpi.errors import UserError

Array = NDArray[Any]

CHUNK_ENTRIES = 1 << 20
"""Stored entries of CSR rows that are scaled at once."""


def none(collective: Collective, rows: Rows, total: int) -> None:
    """Leave the features as they are.

    Parameters
    ----------
    rows
        This agent's rows.
    total
        N, the rows of all agents together.
    """
    del collective, rows, total


def minmax(collective: Collective, rows: Rows, total: int) -> None:
    """Map each column to [0, 1]: (a − min) / (max − min); a constant one to 0.

    In CSR rows zeros that are not stored must stay zero: the smallest number of a
    column that has any must not be negative.
    """
    if rows.dense is not None:
        low, high = collective.min(rows.dense.min(0)), collective.max(rows.dense.max(0))
        rows.dense -= low
        rows.dense /= nonzero(high - low)
        return
    assert rows.indices is not None
    assert rows.values is not None
    low = np.full(rows.columns, np.inf, rows.values.dtype)
    high = -low
    np.minimum.at(low, rows.indices, rows.values)
    np.maximum.at(high, rows.indices, rows.values)
    stored = collective.sum(np.bincount(rows.indices, minlength=rows.columns))
    low, high = collective.min(low), collective.max(high)
    full = stored == total
    if (low[~full] < 0).any():
        column = np.flatnonzero(~full & (low < 0))[0]
        raise UserError(
            f"data.scale = 'minmax' would fill the zeros of column {column} (from 0), "
            "which has negative numbers too; take 'unit', or data.layout = 'dense'"
        )
    low[~full] = 0
    spread = nonzero(high - low)
    for start in range(0, len(rows.values), CHUNK_ENTRIES):
        chunk = slice(start, start + CHUNK_ENTRIES)
        rows.values[chunk] -= low[rows.indices[chunk]]
        rows.values[chunk] /= spread[rows.indices[chunk]]


def standard(collective: Collective, rows: Rows, total: int) -> None:
    """Give each column mean 0 and standard deviation 1; a constant one becomes 0."""
    A = rows.dense
    if A is None:
        raise UserError(
            "data.scale = 'standard' would fill the zeros of sparse rows; take 'unit' "
            "or 'minmax', or data.layout = 'dense'"
        )
    constant = collective.min(A.min(0)) == collective.max(A.max(0))
    A -= (collective.sum(A.sum(0, dtype=np.float64)) / total).astype(A.dtype)
    # Its mean may be off by a rounding, and that would be scaled up.
    A[:, constant] = 0
    squares = collective.sum(np.einsum("ij,ij->j", A, A, dtype=np.float64))
    A /= nonzero(np.sqrt(squares / total)).astype(A.dtype)


def unit(collective: Collective, rows: Rows, total: int) -> None:
    """Give each row the Euclidean norm 1; a row of zeros stays."""
    del collective, total
    if rows.dense is not None:
        norms = np.sqrt(np.einsum("ij,ij->i", rows.dense, rows.dense))
        rows.dense /= nonzero(norms)[:, None]
        return
    for part in rows.pieces(CHUNK_ENTRIES * len(rows) // max(1, rows.entries) + 1):
        assert part.lengths is not None
        assert part.values is not None
        row_of = np.repeat(np.arange(len(part)), part.lengths)
        squares = np.bincount(row_of, part.values**2)
        part.values /= nonzero(np.sqrt(squares)).astype(part.values.dtype)[row_of]


def nonzero(divisors: Array) -> Array:
    """Put 1 in the place of 0."""
    return np.where(divisors == 0, 1, divisors)
