"""The covariance of an agent's rows, dense or CSR, without a copy of them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.problems.rows import BLOCK_ENTRIES
from pmgt_mpi.problems.spectrum import DENSE_LIMIT

Array = NDArray[Any]


def column_sums(A: Any) -> Array:
    """Σ_j a_j in float64, of dense or CSR rows."""
    total = np.zeros(A.shape[1])
    for block in blocks_of(A):
        total += np.asarray(block.sum(axis=0)).ravel()
    return total


def blocks_of(A: Any) -> Iterator[Any]:
    """The rows in float64, some at a time: 8 MB of them at most are copied."""
    n = A.shape[0]
    stored = A.size if isinstance(A, np.ndarray) else A.nnz
    rows = max(1, BLOCK_ENTRIES * n // max(1, stored))
    for start in range(0, n, rows):
        block = A if rows >= n else A[start : start + rows]
        yield block.astype(np.float64, copy=False)


class Covariance:
    """C_i = (1/n_i) Σ_j (a_j − c)(a_j − c)ᵀ: its products, its matrix, its trace.

    All is added up in float64, whatever the rows are. Products and the matrix of CSR
    rows come from the rows as they are, for a − c is not sparse.

    Parameters
    ----------
    A
        The agent's rows, n_i × d: an array, perhaps on disk, or a CSR array.
    centre
        c, which all agents share; None for zero.

    Attributes
    ----------
    shape
        Of a vector that it is applied to.
    matrix_is_cheaper
        Whether products are taken with C_i, once it is made, and not with the rows.
    """

    def __init__(self, A: Any, centre: Array | None = None) -> None:
        self.A = A
        self.rows: int = A.shape[0]
        self.shape = (int(A.shape[1]),)
        self.columns: int = A.shape[1]
        self.sparse = not isinstance(A, np.ndarray)
        self.centre = np.zeros(self.columns) if centre is None else centre
        stored = A.nnz if self.sparse else A.size
        d = self.columns
        self.matrix_is_cheaper = d <= DENSE_LIMIT and d * d < stored

    def product(self, V: Array) -> Array:
        """C_i V, a new array of V's shape and type."""
        if self.matrix_is_cheaper:
            out = self.matrix @ V
        else:
            out = np.zeros(V.shape)
            origin = self.centre @ V
            sums = np.zeros(V.shape[1:])
            for a in blocks_of(self.A):
                z = a @ V
                z -= origin
                out += a.T @ z
                sums += z.sum(axis=0)
            out -= np.multiply.outer(self.centre, sums)
            out /= self.rows
        return out.astype(V.dtype, copy=False)

    @cached_property
    def matrix(self) -> Array:
        """C_i, d × d; made once."""
        total = np.zeros((self.columns, self.columns))
        for a in blocks_of(self.A):
            if self.sparse:
                total += (a.T @ a).toarray()
            else:
                centred = a - self.centre
                total += centred.T @ centred
        if self.sparse and self.centre.any():
            cross = np.outer(self.centre, column_sums(self.A))
            total -= cross + cross.T
            total += self.rows * np.outer(self.centre, self.centre)
        total /= self.rows
        return total

    def gram(self) -> Array:
        """C_i, d × d; it is kept, and not to be changed."""
        return self.matrix

    def trace(self) -> float:
        """The agent's part of the total variance."""
        if self.matrix_is_cheaper or "matrix" in self.__dict__:
            return float(np.trace(self.matrix))
        total = 0.0
        for a in blocks_of(self.A):
            entries = a.data if self.sparse else a - self.centre
            total += float(np.vdot(entries, entries))
        if self.sparse:
            c = self.centre
            total += float(self.rows * (c @ c) - 2 * (c @ column_sums(self.A)))
        return total / self.rows
