"""Text that was unpacked and converted: its rows as arrays, read by mapping them."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.cache import replacing
from pmgt_mpi.data.archive import files_of
from pmgt_mpi.data.npyfile import NpyFile, NpyWriter
from pmgt_mpi.data.rows import Rows

Array = NDArray[Any]


def write_rows(folder: Path, empty: Rows, parts: Iterable[Rows]) -> list[str]:
    """Write rows to a folder, one file for each of their arrays; give the names.

    Instead of the lengths of CSR rows, where each row begins and the last one ends is
    written, so that a range is found without reading what lies before it.

    Parameters
    ----------
    empty
        No rows, of the kind of those to come.
    """
    with ExitStack() as stack:
        files = {}
        for name, array in stored(empty, 0).items():
            temporary = stack.enter_context(replacing(folder / f"{name}.npy"))
            files[name] = stack.enter_context(NpyWriter(temporary, array))
        entries = 0
        if empty.sparse:
            files["ends"].append(np.zeros(1, np.int64))
        for rows in parts:
            for name, array in stored(rows, entries).items():
                files[name].append(array)
            entries += rows.entries
    return [f"{name}.npy" for name in files]


def stored(rows: Rows, entries: int) -> dict[str, Array]:
    """Return the arrays of rows as they are written, after so many stored entries."""
    arrays = rows.arrays()
    if rows.sparse:
        arrays["ends"] = entries + np.cumsum(arrays.pop("lengths"))
    return arrays


class CachedTable:
    """The rows in a folder of the cache; they were checked when they were written.

    Parameters
    ----------
    columns
        d of CSR rows; None where the largest index tells.
    """

    def __init__(
        self, folder: Path, name: str, *, columns: int | None, private: bool
    ) -> None:
        self.name = name
        self.private = private
        self._columns = columns
        self._files = {
            file.removesuffix(".npy"): NpyFile(
                folder / file, str(folder / file), cached=True
            )
            for file in files_of(folder)
        }
        rows = self._files.get("dense")
        self.length = rows.shape[0] if rows else self._files["ends"].shape[0] - 1

    def read(self, start: int, stop: int, dtype: np.dtype[Any], *, owned: bool) -> Rows:
        """Map the rows of [start, stop)."""
        files = self._files
        labels = None
        if "labels" in files:
            labels = files["labels"].read(start, stop, dtype, owned=owned)
        if "dense" in files:
            dense = files["dense"].read(start, stop, dtype, owned=owned)
            return Rows(columns=dense.shape[1], dense=dense, labels=labels)
        ends = files["ends"].read(start, stop + 1, np.dtype(np.int64), owned=True)
        first, last = int(ends[0]), int(ends[-1])
        int32 = np.dtype(np.int32)
        indices = files["indices"].read(first, last, int32, owned=owned)
        columns = self._columns or int(indices.max(initial=-1)) + 1
        return Rows(
            columns=columns,
            lengths=np.diff(ends),
            indices=indices,
            values=files["values"].read(first, last, dtype, owned=owned),
            labels=labels,
        )
