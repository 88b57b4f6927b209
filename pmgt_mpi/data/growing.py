"""Arrays that grow where they are, so that no second copy of a shard ever exists."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.data.rows import PER_ENTRY, Rows

Array = NDArray[Any]


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
