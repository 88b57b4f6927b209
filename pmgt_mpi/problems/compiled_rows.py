"""Minibatch products of the compiled engine: rows are read where they lie."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.engine.library import DTYPES, Library
from pmgt_mpi.problems.linear import LinearModel
from pmgt_mpi.problems.rows import DenseRows, Rows, SparseRows

Array = NDArray[Any]


def with_compiled_rows(problem: Any, library: Library) -> Any:
    """Return the same problem with minibatches in C, or itself where that is not known.

    Every linear model is one: its loss stays as it is, only products with rows change.
    """
    rows = getattr(problem, "A", None)
    if not isinstance(problem, LinearModel) or not isinstance(
        rows, DenseRows | SparseRows
    ):
        return problem
    if rows.dtype not in DTYPES:
        return problem
    compiled = copy(problem)
    compiled.A = CompiledRows(rows, library)
    return compiled


class CompiledRows:
    """The rows of an agent, with minibatches in C; whole products are the rows' own.

    Vectors of another type than the rows', and indices that are of no row, go the way
    of numpy, minibatches too.

    Parameters
    ----------
    plain
        Dense or CSR rows.
    library
        The compiled engine.

    Attributes
    ----------
    normal
        normal(rows, x, factor, shift) is factor Σ_j ⟨a_j, x⟩ a_j + shift x over some
        rows, each of them read once.
    """

    def __init__(self, plain: DenseRows | SparseRows, library: Library) -> None:
        self.plain: Rows = plain
        self.dtype = plain.dtype
        self.entries = plain.entries
        rows: Any = plain.A
        A: Array | tuple[Array, Array, Array]
        if isinstance(plain, DenseRows):
            A = np.ascontiguousarray(rows)
        else:
            A = rows.data, rows.indptr.astype(np.int64), rows.indices
        self.normal: Callable[..., Array]
        self._dot, self._tdot, self.normal = library.products(
            A,
            rows.shape[1],
            (
                lambda rows, x: plain.gather(rows).dot(x),
                lambda rows, s: plain.gather(rows).tdot(s),
                plain.normal,
            ),
        )

    def dot(self, x: Array) -> Array:
        """⟨a_j, x⟩ for each row."""
        return self.plain.dot(x)

    def tdot(self, s: Array) -> Array:
        """Σ_j s_j a_j, a new array."""
        return self.plain.tdot(s)

    def gather(self, rows: Array) -> CompiledBatch:
        """Rows by index, each as often as it is named; the indices must be valid."""
        return CompiledBatch(rows, self._dot, self._tdot)

    def gram(self, h: Array | None = None) -> Array:
        """(1/n) Σ_j h_j a_j a_jᵀ, d × d, float64; h = 1 where it is not given."""
        return self.plain.gram(h)

    def squared_norms(self) -> Array:
        """‖a_j‖² for each row, float64."""
        return self.plain.squared_norms()


class CompiledBatch(NamedTuple):
    """A few rows by their indices, not copied: products are taken where they lie."""

    rows: Array
    dot_of: Callable[[Array, Array], Array]
    tdot_of: Callable[[Array, Array], Array]

    def dot(self, x: Array) -> Array:
        """⟨a_j, x⟩ for each row."""
        return self.dot_of(self.rows, x)

    def tdot(self, s: Array) -> Array:
        """Σ_j s_j a_j, a new array."""
        return self.tdot_of(self.rows, s)
