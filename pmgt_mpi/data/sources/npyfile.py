"""Files of one array in NumPy's format: a range of rows read, rows written in turn."""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from tokenize import TokenError
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.data.files import check_same, stamp
from pmgt_mpi.data.source import excerpt
from pmgt_mpi.errors import UserError

Array = NDArray[Any]

CHUNK_BYTES = 1 << 23
"""Bytes mapped at once where rows must be copied; what is mapped counts as memory."""

HEADER_ERRORS = (
    ValueError,
    TypeError,
    LookupError,
    OverflowError,
    EOFError,
    SyntaxError,
    TokenError,
    RecursionError,
    MemoryError,
)
"""What NumPy raises for headers that are damaged, or made to do harm."""


class NpyFile:
    """A .npy file of real numbers, of which single rows can be read.

    Parameters
    ----------
    path
        The file.
    name
        What to call it in messages.
    cached
        Whether it lies in the cache, where another job may put the same file again.
    """

    def __init__(self, path: Path, name: str, *, cached: bool = False) -> None:
        self._stamp = None if cached else stamp(path)
        try:
            with warnings.catch_warnings(action="ignore"):  # of overflow, of odd syntax
                whole = np.lib.format.open_memmap(path, mode="r")
        except HEADER_ERRORS as error:
            raise UserError(
                f"{name} is not a whole .npy file of numbers "
                f"({excerpt(str(error), 200)}); "  # some hold the whole header
                "write it with numpy.save, allow_pickle=False"
            ) from error
        if whole.dtype.kind not in "fiub":
            raise UserError(
                f"{name} holds {whole.dtype}; expected real numbers, such as float64"
            )
        self.name = name
        self.shape: tuple[int, ...] = whole.shape
        self._path = path
        self._dtype = whole.dtype
        self._offset = whole.offset
        self._by_columns = not whole.flags.c_contiguous

    def read(
        self,
        start: int,
        stop: int,
        dtype: np.dtype[Any],
        *,
        owned: bool,
        columns: Array | None = None,
    ) -> Array:
        """Return the rows of [start, stop), mapped (copied on write) where possible.

        Parameters
        ----------
        owned
            Copy in any case.
        columns
            Numbers of the columns wanted; None is all.
        """
        rows = stop - start
        plain = not self._by_columns and columns is None and dtype == self._dtype
        if plain and not owned and rows:
            return self._map(start, rows, "c").view(np.ndarray)
        if columns is None and len(self.shape) == 2:
            columns = np.arange(self.shape[1])
        width = () if columns is None else (len(columns),)
        copy = np.empty((rows, *width), dtype)
        with np.errstate(over="ignore"):  # what is infinite then, the caller refuses
            self._copy_to(copy, start, columns)
        return copy

    def _copy_to(self, copy: Array, start: int, columns: Array | None) -> None:
        """Fill an array with the rows from `start`, of these columns."""
        rows = len(copy)
        if columns is not None and self._by_columns:
            for here, column in enumerate(columns):
                first = int(column) * self.shape[0] + start
                for low, high in self._chunks(rows, 1):
                    copy[low:high, here] = self._map(first + low, high - low, "r", ())
        else:
            some = columns is not None and len(columns) < self.shape[1]
            for low, high in self._chunks(rows, int(np.prod(self.shape[1:]))):
                chunk = self._map(start + low, high - low, "r")
                copy[low:high] = chunk[:, columns] if some else chunk

    def check_same(self) -> None:
        """Refuse a file that has changed since it was opened."""
        if self._stamp is not None:
            check_same(self._path, self._stamp, self.name)

    def _map(
        self, first: int, count: int, mode: Any, width: tuple[int, ...] | None = None
    ) -> Array:
        """Map `count` rows from row `first`; of width () they are single numbers."""
        tail = self.shape[1:] if width is None else width
        size = self._dtype.itemsize * int(np.prod(tail))
        try:
            return np.memmap(
                self._path,
                self._dtype,
                mode,
                offset=self._offset + first * size,
                shape=(count, *tail),
            )
        except ValueError:
            self.check_same()  # it may be shorter now
            raise

    def _chunks(self, rows: int, width: int) -> list[tuple[int, int]]:
        step = max(1, CHUNK_BYTES // max(1, width * self._dtype.itemsize))
        return [(low, min(rows, low + step)) for low in range(0, rows, step)]


class NpyWriter:
    """A .npy file that rows are appended to, without knowing how many there will be."""

    def __init__(self, path: Path, like: Array) -> None:
        self._file = path.open("wb")
        self._dtype = like.dtype
        self._width = like.shape[1:]
        self._rows = 0
        self._header_size = self._file.write(self._header())

    def append(self, rows: Array) -> None:
        """Write rows after the last."""
        self._file.write(np.ascontiguousarray(rows, self._dtype).data)
        self._rows += len(rows)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._file:
            self._file.seek(0)
            header = self._header()
            assert len(header) == self._header_size
            self._file.write(header)

    def _header(self) -> bytes:
        """NumPy leaves room in it for the first axis to grow."""
        header = io.BytesIO()
        np.lib.format.write_array_header_1_0(
            header,
            {
                "descr": np.lib.format.dtype_to_descr(self._dtype),
                "fortran_order": False,
                "shape": (self._rows, *self._width),
            },
        )
        return header.getvalue()
