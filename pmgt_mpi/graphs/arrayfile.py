"""Arrays in files of numpy and scipy, whose every byte may be wrong.

What a header says is held against what the file has before memory is taken for it, and
indices against the size of W before scipy follows them.
"""

from __future__ import annotations

from math import prod
from pathlib import Path
from typing import IO, Any
from zipfile import ZipFile

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}
"""By version; numpy writes others only for names of columns."""

LARGEST = 32
"""Bytes of a number of numpy's, at most."""


def mapped(path: Path) -> Array:
    """Map a .npy file; a `ValueError`, or what a parser raises, if it is none."""
    with path.open("rb") as file:
        shape, by_columns, dtype = header(file)
        start = file.tell()
    if dtype.hasobject:
        raise ValueError(f"it holds {dtype}, not numbers")
    if path.stat().st_size < start + prod(shape) * dtype.itemsize:
        raise ValueError(f"it ends before the last number of an array of shape {shape}")
    return np.memmap(path, dtype, "r", start, shape, "F" if by_columns else "C")


def header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Read shape, whether columns come first, and dtype."""
    version = np.lib.format.read_magic(file)
    if version not in HEADERS:
        raise ValueError(f"version {version} of the format is not for numbers")
    shape, by_columns, dtype = HEADERS[version](file)
    if not all(type(n) is int and n >= 0 for n in shape):
        raise ValueError(f"its shape is {shape}")
    return shape, by_columns, dtype


class Archive:
    """An .npz file of `scipy.sparse.save_npz`.

    Parameters
    ----------
    archive
        The file, open.

    Attributes
    ----------
    shape
        Of the matrix.
    """

    def __init__(self, archive: ZipFile) -> None:
        self._archive = archive
        self.shape: tuple[int, ...] = tuple(self._integers("shape", 2).tolist())

    def entries(self, m: int) -> tuple[Array, tuple[Array, Array]]:
        """Read the numbers of an m × m matrix, and the row and column of each."""
        values = self._array("data", m * m)
        if values.dtype.kind not in "fiub":
            raise ValueError(f"data holds {values.dtype}; expected real numbers")
        rows, columns = self._places(m)
        for place in (rows, columns):
            if place.size != values.size or (place < 0).any() or (place >= m).any():
                raise ValueError(
                    f"expected a row and a column from 0 to {m - 1} for each of the "
                    f"{values.size} numbers"
                )
        return values.astype(np.float64), (rows, columns)

    def _places(self, m: int) -> tuple[Array, Array]:
        word = self._array("format", 1).item()
        form = word.decode("latin1") if isinstance(word, bytes) else word
        if form == "coo":
            if "coords.npy" in self._archive.namelist():
                rows, columns = self._integers("coords", 2 * m * m)
                return rows, columns
            return self._integers("row", m * m), self._integers("col", m * m)
        if form not in ("csr", "csc"):
            raise ValueError(f"its format is '{form}'; expected csr, csc or coo")
        starts = self._integers("indptr", m + 1)
        inner = self._integers("indices", m * m)
        counts = np.diff(starts)
        whole = counts.size == m and starts[0] == 0 and starts[-1] == inner.size
        if not whole or (counts < 0).any():
            raise ValueError(
                f"expected indptr to rise in {m} steps from 0 to {inner.size}, the "
                "number of indices"
            )
        outer = np.repeat(np.arange(m), counts)
        return (outer, inner) if form == "csr" else (inner, outer)

    def _integers(self, name: str, most: int) -> Array:
        array = self._array(name, most)
        if array.dtype.kind not in "iu":
            raise ValueError(f"{name} holds {array.dtype}; expected integers")
        return array.astype(np.int64)

    def _array(self, name: str, most: int) -> Array:
        """Read an array of at most so many numbers."""
        with self._archive.open(f"{name}.npy") as file:
            shape, _, dtype = header(file)
            odd = dtype.hasobject or dtype.itemsize > LARGEST
            if odd or prod(shape) > most:
                raise ValueError(f"{name} has the shape {shape} and holds {dtype}")
            size = prod(shape) * dtype.itemsize
            content = file.read(size + 1)  # to its end, where the checksum is seen
        if len(content) != size:
            raise ValueError(f"{name} does not have the {size} bytes of its header")
        return np.frombuffer(content, dtype).reshape(shape)
