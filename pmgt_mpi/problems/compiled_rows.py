"""Minibatch products of the compiled engine: rows are read where they lie."""

from __future__ import annotations

from copy import copy
from ctypes import addressof
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.engine.library import SUFFIXES, BatchStruct, Library, address
from pmgt_mpi.problems.dense_rows import DenseRows
from pmgt_mpi.problems.linear import LinearModel
from pmgt_mpi.problems.rows import Batch, Rows
from pmgt_mpi.problems.sparse_rows import SparseRows

Array = NDArray[Any]


def with_compiled_rows(problem: Any, library: Library) -> Any:
    """Give the same problem with minibatches in C, or itself where that is not known.

    Every linear model is one: its loss stays as it is, only products with rows change.
    """
    rows = getattr(problem, "A", None)
    if not isinstance(problem, LinearModel) or not isinstance(
        rows, DenseRows | SparseRows
    ):
        return problem
    if rows.dtype not in SUFFIXES:
        return problem
    compiled = copy(problem)
    compiled.A = CompiledRows(rows, library)
    return compiled


class CompiledRows:
    """The rows of an agent, with minibatches in C; whole products are the rows' own.

    Parameters
    ----------
    plain
        Dense or CSR rows.
    library
        The compiled engine.
    """

    def __init__(self, plain: DenseRows | SparseRows, library: Library) -> None:
        self.plain: Rows = plain
        self.dtype = plain.dtype
        self.entries = plain.entries
        self.library = library
        self.columns = int(plain.A.shape[1])
        self.x = np.zeros(self.columns, self.dtype)
        self.out = np.zeros(self.columns, self.dtype)
        if isinstance(plain, DenseRows):
            self._arrays = [np.ascontiguousarray(plain.A)]
            self._where = {"values": address(self._arrays[0])}
        else:
            A = plain.A
            self._arrays = [A.data, A.indptr.astype(np.int64), A.indices]
            self._where = {
                "values": address(self._arrays[0]),
                "starts": address(self._arrays[1]),
                "columns": address(self._arrays[2]),
                "column_bytes": A.indices.itemsize,
            }
        self._batches: dict[int, CompiledBatch] = {}

    def dot(self, x: Array) -> Array:
        """⟨a_j, x⟩ for each row."""
        return self.plain.dot(x)

    def tdot(self, s: Array) -> Array:
        """Σ_j s_j a_j, a new array."""
        return self.plain.tdot(s)

    def gather(self, rows: Array) -> CompiledBatch:
        """Rows by index, each as often as it is named; the indices must be valid."""
        batch = self._batches.get(rows.size)
        if batch is None:
            batch = self._batches[rows.size] = CompiledBatch(self, rows.size)
        batch.rows[...] = rows
        return batch

    def normal(self, rows: Array, x: Array, factor: float, shift: float) -> Array:
        """factor Σ_j ⟨a_j, x⟩ a_j + shift x over some rows, each of them read once."""
        if not self.takes(x):
            return self.plain.normal(rows, x, factor, shift)
        return self.gather(rows).normal(x, factor, shift)

    def gram(self, h: Array | None = None) -> Array:
        """(1/n) Σ_j h_j a_j a_jᵀ, d × d, float64; h = 1 where it is not given."""
        return self.plain.gram(h)

    def largest_norm(self) -> float:
        """max_j ‖a_j‖²."""
        return self.plain.largest_norm()

    def takes(self, x: Array) -> bool:
        """Whether the compiled products are for such a vector."""
        return x.dtype == self.dtype and x.ndim == 1

    def struct(self, rows: Array, z: Array) -> BatchStruct:
        """What the compiled functions are told of a batch."""
        return BatchStruct(
            **self._where,
            d=self.columns,
            rows=address(rows),
            b=rows.size,
            x=address(self.x),
            z=address(z),
            out=address(self.out),
        )


class CompiledBatch:
    """A few rows by their indices, in buffers made once for each size of batch."""

    def __init__(self, whole: CompiledRows, b: int) -> None:
        self.whole = whole
        self.rows = np.zeros(b, np.int64)
        self._x, self._out = whole.x, whole.out
        self._z = np.zeros(b, whole.dtype)
        self._struct = whole.struct(self.rows, self._z)
        self._here = addressof(self._struct)
        function = whole.library.function
        self._dot = function("dot", whole.dtype)
        self._tdot = function("tdot", whole.dtype)
        self._normal = function("normal", whole.dtype)

    def dot(self, x: Array) -> Array:
        """⟨a_j, x⟩ for each row."""
        if not self.whole.takes(x):
            return self._plain().dot(x)
        self._x[...] = x
        self._dot(self._here)
        return self._z.copy()

    def tdot(self, s: Array) -> Array:
        """Σ_j s_j a_j, a new array."""
        if not self.whole.takes(s):
            return self._plain().tdot(s)
        self._z[...] = s
        self._tdot(self._here)
        return self._out.copy()

    def normal(self, x: Array, factor: float, shift: float) -> Array:
        """factor Σ_j ⟨a_j, x⟩ a_j + shift x, a new array."""
        self._x[...] = x
        self._normal(self._here, factor, shift)
        return self._out.copy()

    def _plain(self) -> Batch:
        return self.whole.plain.gather(self.rows)
