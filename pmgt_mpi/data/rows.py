"""Rows in memory, dense or CSR, as parallel arrays, which can grow where they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

PER_ENTRY = ("indices", "values")
"""The arrays that have one item for each stored entry; all others have one a row."""


@dataclass
class Rows:
    """Some rows of the data set.

    Either `dense` is there, or the three arrays of the compressed form: `lengths`,
    `indices`, `values`. All row by row operations are written once, for both.

    Attributes
    ----------
    columns
        d, or for CSR rows of which nothing more is known, the largest index plus one.
    dense
        n × d, C-contiguous.
    lengths, indices, values
        Entries in each row; then, row after row, their columns (increasing) and values.
    labels
        One number a row.
    positions
        Where in the whole data set each row is to go, while rows are exchanged.
    lines
        Lines of text that the rows were read from.
    """

    columns: int
    dense: Array | None = None
    lengths: Array | None = None
    indices: Array | None = None
    values: Array | None = None
    labels: Array | None = None
    positions: Array | None = None
    lines: int = 0

    @property
    def sparse(self) -> bool:
        """Whether the rows are in compressed form."""
        return self.dense is None

    def __len__(self) -> int:
        return len(self._first)

    @property
    def _first(self) -> Array:
        first = self.lengths if self.dense is None else self.dense
        assert first is not None
        return first

    @property
    def entries(self) -> int:
        """Stored entries of CSR rows; 0 of dense ones."""
        return 0 if self.values is None else len(self.values)

    @property
    def placed(self) -> Array:
        """The positions, of rows that have them."""
        assert self.positions is not None
        return self.positions

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return sum(array.nbytes for array in self.arrays().values())

    def arrays(self) -> dict[str, Array]:
        """Return the arrays that are there, by name, always in the same order."""
        named = {field.name: getattr(self, field.name) for field in fields(self)}
        return {k: v for k, v in named.items() if isinstance(v, np.ndarray)}

    def with_arrays(self, arrays: dict[str, Array]) -> Rows:
        """Return other rows of the same kind."""
        return replace(self, **arrays)  # type: ignore[arg-type]

    def none(self) -> Rows:
        """Return no rows, of the same kind."""
        return self.with_arrays({n: a[:0].copy() for n, a in self.arrays().items()})

    def part(self, start: int, stop: int) -> Rows:
        """Return the rows of [start, stop), without a copy."""
        first, last = self._entry(start), self._entry(stop)
        return self.with_arrays(
            {
                name: array[first:last] if name in PER_ENTRY else array[start:stop]
                for name, array in self.arrays().items()
            }
        )

    def pieces(self, count: int) -> Iterator[Rows]:
        """Return all rows, so many at a time, without a copy."""
        for start in range(0, len(self), count):
            yield self.part(start, min(len(self), start + count))

    def take(self, order: Array) -> Rows:
        """Return a copy of the rows in another order."""
        taken = {n: a[order] for n, a in self.arrays().items() if n not in PER_ENTRY}
        if self.lengths is not None:
            lengths = taken["lengths"]
            gap = (np.cumsum(self.lengths) - self.lengths)[order]
            gap -= np.cumsum(lengths) - lengths
            entries = np.repeat(gap, lengths) + np.arange(int(lengths.sum()))
            taken |= {n: a[entries] for n, a in self.arrays().items() if n in PER_ENTRY}
        return self.with_arrays(taken)

    def pop(self, count: int) -> Rows:
        """Take the last rows out; their memory goes back to the system.

        Only for rows that own their arrays, with no view on them left.
        """
        keep = len(self) - count
        tail = self.part(keep, len(self))
        tail = tail.with_arrays({n: a.copy() for n, a in tail.arrays().items()})
        entries = self._entry(keep)
        for name, array in self.arrays().items():
            size = entries if name in PER_ENTRY else keep
            array.resize((size, *array.shape[1:]), refcheck=False)
        return tail

    def _entry(self, row: int) -> int:
        """Return the number of stored entries before a row."""
        return 0 if self.lengths is None else int(self.lengths[:row].sum())


class Growing:
    """An array that is appended to along its first axis.

    Room that was never written to takes no memory, so a good guess at the final size
    costs nothing; beyond it the array grows by an eighth, by realloc, which moves pages
    and does not copy them.
    """

    def __init__(self, like: Array, expected: int) -> None:
        self._array = np.empty((expected, *like.shape[1:]), like.dtype)
        self._size = 0

    def append(self, items: Array) -> None:
        """Put items at the end."""
        end = self._size + len(items)
        if end > len(self._array):
            self._resize(max(end, len(self._array) * 9 // 8))
        self._array[self._size : end] = items
        self._size = end

    def finish(self) -> Array:
        """Return the array, cut to what was appended."""
        self._resize(self._size)
        return self._array

    def _resize(self, size: int) -> None:
        shape = (size, *self._array.shape[1:])
        self._array.resize(shape, refcheck=False)


class GrowingRows:
    """Rows of one kind that are appended to, all arrays in step.

    Parameters
    ----------
    like
        Rows of that kind; which arrays there are, and their types.
    rows, entries
        How many rows, and stored entries, are expected in the end.

    Attributes
    ----------
    entries
        Stored entries so far.
    """

    def __init__(self, like: Rows, rows: int, entries: int = 0) -> None:
        self._like = like
        self._columns = like.columns
        self.entries = 0
        self._arrays = {
            name: Growing(array, entries if name in PER_ENTRY else rows)
            for name, array in like.arrays().items()
        }

    def append(self, rows: Rows) -> None:
        """Put rows at the end."""
        self._columns = max(self._columns, rows.columns)
        self.entries += rows.entries
        for name, array in rows.arrays().items():
            self._arrays[name].append(array)

    def finish(self) -> Rows:
        """Return the rows."""
        rows = self._like.with_arrays({n: g.finish() for n, g in self._arrays.items()})
        rows.columns = self._columns
        return rows
