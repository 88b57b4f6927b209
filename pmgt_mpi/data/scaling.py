"""Scaling of the features, in place; what it needs of all rows goes by collectives."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.data.rows import Rows
from pmgt_mpi.errors import UserError
from pmgt_mpi.mpi.collective import Collective

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
    A = rows.dense
    if A is not None:
        low, high = collective.min(A.min(0)), collective.max(A.max(0))
        power = to_one(np.maximum(high, -low))
        A *= power
        A -= low * power
        A /= nonzero(high * power - low * power)
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
    low[~full], high[~full] = 0, np.maximum(high[~full], 0)
    power = to_one(np.maximum(high, -low))
    low *= power
    spread = nonzero(high * power - low)
    for start in range(0, len(rows.values), CHUNK_ENTRIES):
        chunk = slice(start, start + CHUNK_ENTRIES)
        column = rows.indices[chunk]
        rows.values[chunk] *= power[column]
        rows.values[chunk] -= low[column]
        rows.values[chunk] /= spread[column]


def standard(collective: Collective, rows: Rows, total: int) -> None:
    """Bring columns to mean 0 and standard deviation 1; a constant one becomes 0."""
    A = rows.dense
    if A is None:
        raise UserError(
            "data.scale = 'standard' would fill the zeros of sparse rows; take 'unit' "
            "or 'minmax', or data.layout = 'dense'"
        )
    low, high = collective.min(A.min(0)), collective.max(A.max(0))
    constant = low == high
    A *= to_one(np.maximum(high, -low))
    A -= (collective.sum(A.sum(0, dtype=np.float64)) / total).astype(A.dtype)
    # Its mean may be off by a rounding, and that would be scaled up.
    A[:, constant] = 0
    squares = collective.sum(np.einsum("ij,ij->j", A, A, dtype=np.float64))
    A /= nonzero(np.sqrt(squares / total)).astype(A.dtype)


def unit(collective: Collective, rows: Rows, total: int) -> None:
    """Bring rows to the Euclidean norm 1; a row of zeros stays."""
    del collective, total
    A = rows.dense
    if A is not None:
        A *= to_one(np.maximum(A.max(1), -A.min(1)))[:, None]
        A /= nonzero(np.sqrt(np.einsum("ij,ij->i", A, A)))[:, None]
        return
    for part in rows.pieces(CHUNK_ENTRIES * len(rows) // max(1, rows.entries) + 1):
        assert part.lengths is not None
        assert part.values is not None
        row_of = np.repeat(np.arange(len(part)), part.lengths)
        largest = np.zeros(len(part), part.values.dtype)
        np.maximum.at(largest, row_of, np.abs(part.values))
        part.values *= to_one(largest)[row_of]
        squares = np.bincount(row_of, part.values**2)
        part.values /= nonzero(np.sqrt(squares)).astype(part.values.dtype)[row_of]


def to_one(largest: Array) -> Array:
    """Return the powers of two that bring magnitudes near 1: no square overflows then.

    To multiply by them changes no digit, so the bits of what has ordinary size stay.
    """
    most = np.finfo(largest.dtype).maxexp - 2
    power: Array = np.ldexp(
        largest.dtype.type(1), -np.clip(np.frexp(largest)[1], -most, most)
    )
    return power


def nonzero(divisors: Array) -> Array:
    """Put 1 in the place of 0."""
    return np.where(divisors == 0, 1, divisors)
