"""The products that a linear model takes with its rows, dense or sparse.

A minibatch of dense rows is gathered into buffers made once; one of CSR rows with numpy
from the three arrays of the format: ``A[rows]`` costs several times as much, nearly all
of it in checks.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

BLOCK = 4096
"""Rows that are converted at once where a product needs float64 of float32 rows."""

BLOCK_ENTRIES = 1 << 20
"""Entries of the rows that are worked on at once where a product needs copies."""


class Batch(Protocol):
    """A few rows a_j, gathered; valid until the next batch of the same length."""

    def dot(self, x: Array) -> Array:
        """⟨a_j, x⟩ for each row."""
        ...

    def tdot(self, s: Array) -> Array:
        """Σ_j s_j a_j, a new array."""
        ...


class Rows(Batch, Protocol):
    """All rows of an agent."""

    dtype: np.dtype[Any]

    entries: int
    """Numbers stored: the cost of one product."""

    def gather(self, rows: Array) -> Batch:
        """Rows by index, each as often as it is named; the indices must be valid."""
        ...

    def normal(self, rows: Array, x: Array, factor: float, shift: float) -> Array:
        """factor Σ_j ⟨a_j, x⟩ a_j + shift x over some rows, a new array."""
        batch = self.gather(rows)
        z = batch.dot(x)
        z *= factor
        out = batch.tdot(z)
        out += shift * x
        return out

    def gram(self, h: Array | None = None) -> Array:
        """(1/n) Σ_j h_j a_j a_jᵀ, d × d, float64; h = 1 where it is not given."""
        ...

    def squared_norms(self) -> Array:
        """‖a_j‖² for each row, float64."""
        ...


class DenseRows(Rows):
    """The rows of an array, n × d.

    Parameters
    ----------
    A
        C-contiguous, float64 or float32; kept, not copied.
    """

    def __init__(self, A: Array) -> None:
        self.A = np.asarray(A)  # a memory map as the plain array that it is
        self.dtype = self.A.dtype
        self.entries = int(self.A.size)
        self._batches: dict[int, DenseRows] = {}

    def dot(self, x: Array) -> Array:
        """⟨a_j, x⟩ for each row."""
        if x.dtype == self.dtype:
            return self.A.dot(x)  # type: ignore[no-any-return]
        return np.concatenate([block.dot(x) for block in self._blocks()])

    def tdot(self, s: Array) -> Array:
        """Σ_j s_j a_j, a new array."""
        if s.dtype == self.dtype:
            return s.dot(self.A)  # type: ignore[no-any-return]
        total = np.zeros(self.A.shape[1], np.result_type(s, self.A))
        for start, block in enumerate(self._blocks()):
            total += s[start * BLOCK : (start + 1) * BLOCK].dot(block)
        return total

    def gather(self, rows: Array) -> DenseRows:
        """Rows by index, each as often as it is named; the indices must be valid."""
        batch = self._batches.get(rows.size)
        if batch is None:
            batch = DenseRows(np.empty((rows.size, self.A.shape[1]), self.dtype))
            self._batches[rows.size] = batch
        # "raise" would buffer the output; with "clip" the rows are copied straight.
        self.A.take(rows, 0, batch.A, "clip")
        return batch

    def gram(self, h: Array | None = None) -> Array:
        """(1/n) Σ_j h_j a_j a_jᵀ, d × d, float64; h = 1 where it is not given."""
        n, d = self.A.shape
        total = np.zeros((d, d))
        for start, block in enumerate(self._blocks()):
            a = block.astype(np.float64, copy=False)
            if h is None:
                total += a.T @ a
            else:
                part = h[start * BLOCK : (start + 1) * BLOCK]
                total += (a * part[:, None]).T @ a
        total /= n
        return total

    def squared_norms(self) -> Array:
        """‖a_j‖² for each row, float64."""
        return np.concatenate(
            [
                np.einsum("ij,ij->i", block, block, dtype=np.float64)
                for block in self._blocks()
            ]
        )

    def _blocks(self) -> Iterator[Array]:
        for start in range(0, len(self.A), BLOCK):
            yield self.A[start : start + BLOCK]


class SparseBatch:
    """The entries of a few rows: value, column, and which row of the batch."""

    def __init__(
        self, values: Array, columns: Array, owner: Array, shape: tuple[int, int]
    ) -> None:
        self.values = values
        self.columns = columns
        self.owner = owner
        self.shape = shape

    def dot(self, x: Array) -> Array:
        """⟨a_j, x⟩ for each row."""
        return self._sums(self.owner, x.take(self.columns), self.shape[0])

    def tdot(self, s: Array) -> Array:
        """Σ_j s_j a_j, a new array."""
        return self._sums(self.columns, s.take(self.owner), self.shape[1])

    def _sums(self, bins: Array, factors: Array, length: int) -> Array:
        terms = factors * self.values
        sums = np.bincount(bins, terms, length)  # always float64
        return sums.astype(terms.dtype, copy=False)


class SparseRows(Rows):
    """The rows of a CSR array, n × d.

    Parameters
    ----------
    A
        A scipy CSR array, float64 or float32; kept, not copied.
    """

    def __init__(self, A: Any) -> None:
        self.A = A
        self.dtype = A.dtype
        self.entries = int(A.nnz)
        self._transposed = A.T  # the same memory, read as CSC
        self._indptr: Array = A.indptr.astype(np.intp)

    def dot(self, x: Array) -> Array:
        """⟨a_j, x⟩ for each row."""
        return self.A @ x  # type: ignore[no-any-return]

    def tdot(self, s: Array) -> Array:
        """Σ_j s_j a_j, a new array."""
        return self._transposed @ s  # type: ignore[no-any-return]

    def gather(self, rows: Array) -> SparseBatch:
        """Rows by index, each as often as it is named; the indices must be valid."""
        start = self._indptr.take(rows)
        length = self._indptr.take(rows + 1) - start
        end = length.cumsum()
        # Entry k of the batch lies at k + (start of its row in A − its start here).
        entry = (start - end + length).repeat(length)
        entry += np.arange(entry.size)
        return SparseBatch(
            self.A.data.take(entry),
            self.A.indices.take(entry).astype(np.intp, copy=False),
            np.arange(rows.size).repeat(length),
            (rows.size, self.A.shape[1]),
        )

    def gram(self, h: Array | None = None) -> Array:
        """(1/n) Σ_j h_j a_j a_jᵀ, d × d, float64; h = 1 where it is not given."""
        n, d = self.A.shape
        total = np.zeros((d, d))
        for start, A in self._blocks():
            if h is None:
                scaled = A
            else:
                part = h[start : start + A.shape[0], None]
                scaled = A.multiply(part).tocsr()
            total += (scaled.T @ A).toarray()
        total /= n
        return total

    def squared_norms(self) -> Array:
        """‖a_j‖² for each row, float64."""
        return np.concatenate([A.multiply(A).sum(axis=1) for _, A in self._blocks()])

    def _blocks(self) -> Iterator[tuple[int, Any]]:
        """The rows in float64, some at a time, and the number of the first of them."""
        n = self.A.shape[0]
        rows = max(1, BLOCK_ENTRIES * n // max(1, self.entries))
        for start in range(0, n, rows):
            block = self.A[start : start + rows]
            yield start, block.astype(np.float64, copy=False)


def rows_of(A: Any) -> Rows:
    """Wrap a C-contiguous array or a CSR array, without a copy."""
    return DenseRows(A) if isinstance(A, np.ndarray) else SparseRows(A)
