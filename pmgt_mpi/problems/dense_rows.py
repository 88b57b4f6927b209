"""Products with dense rows; minibatches are gathered into buffers made once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

BLOCK = 4096
"""Rows that are converted at once where a product needs float64 of float32 rows."""


class DenseRows:
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

    def largest_norm(self) -> float:
        """max_j ‖a_j‖²."""
        return max(
            float(np.einsum("ij,ij->i", block, block, dtype=np.float64).max())
            for block in self._blocks()
        )

    def _blocks(self) -> Iterator[Array]:
        for start in range(0, len(self.A), BLOCK):
            yield self.A[start : start + BLOCK]
