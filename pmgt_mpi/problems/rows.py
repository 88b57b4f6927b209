"""The products that a linear model takes with its rows, dense or sparse."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.problems.dense_rows import DenseRows
from pmgt_mpi.problems.sparse_rows import SparseRows

Array = NDArray[Any]


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
        ...

    def gram(self, h: Array | None = None) -> Array:
        """(1/n) Σ_j h_j a_j a_jᵀ, d × d, float64; h = 1 where it is not given."""
        ...

    def largest_norm(self) -> float:
        """max_j ‖a_j‖²."""
        ...


def rows_of(A: Any) -> Rows:
    """Wrap a C-contiguous array or a CSR array, without a copy."""
    return DenseRows(A) if isinstance(A, np.ndarray) else SparseRows(A)
