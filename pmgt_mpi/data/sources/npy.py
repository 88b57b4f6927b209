"""NumPy's .npy files: mapped, so that an agent touches its own rows only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.data.archive import Archive, is_packed, unpacked
from pmgt_mpi.data.files import find_file, is_private, own_path, reading
from pmgt_mpi.data.rows import Rows
from pmgt_mpi.data.source import label_number
from pmgt_mpi.data.sources.npyfile import CHUNK_BYTES, NpyFile
from pmgt_mpi.errors import UserError
from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.options import FilePath
from pmgt_mpi.replacing import replacing

Array = NDArray[Any]


class Npy:
    """A matrix in a .npy file, plain or packed (.gz, .bz2, .xz).

    Parameters
    ----------
    path
        The file; with ``{agent}`` or ``{agent:03d}`` in it, each agent reads a file
        of its own.
    labels
        Another .npy file, with one number for each row.
    label_column
        Number of the column that is the label, from 0; −1 is the last.
    """

    def __init__(
        self,
        *,
        path: FilePath,
        labels: FilePath | None = None,
        label_column: int | None = None,
    ) -> None:
        if labels is not None and label_column is not None:
            raise UserError(
                "data.labels and data.label_column both say where the labels are; "
                "leave one of them out"
            )
        if labels is not None and is_private(labels) != is_private(path):
            raise UserError(
                f"data.path = '{path}' and data.labels = '{labels}'; expected "
                "{agent} in both or in neither"
            )
        self.path = path
        self.labels = labels
        self.label_column = label_column

    def open(
        self, collective: Collective, *, base: Path | None, seed: np.random.SeedSequence
    ) -> NpyTable:
        """Find the file and look at its shape."""
        del seed
        matrix = open_npy(collective, self.path, base)
        labels = None
        if self.labels is not None:
            labels = open_npy(collective, self.labels, base)
        with collective.agreed():
            return NpyTable(
                matrix, labels, self.label_column, private=is_private(self.path)
            )


def open_npy(collective: Collective, path: str, base: Path | None) -> NpyFile:
    """Open a .npy file, plain or packed, on all agents together."""
    with collective.agreed():
        found = plain = find_file(own_path(path, collective.agent), base)
    if is_packed(path):
        options = {"source": "npy"}
        private = is_private(path)
        folder = unpacked(collective, found, options, unpack, private=private)
        plain = folder / ARRAY
    with collective.agreed(), reading(found):
        file = NpyFile(plain, str(found), cached=is_packed(path))
    return file


ARRAY = "array.npy"
"""What an unpacked file is called in its folder of the cache."""


def unpack(packed: Path, folder: Path) -> list[str]:
    """Write what was packed to a folder; return the names of its files."""
    with (
        Archive(packed) as archive,
        replacing(folder / ARRAY) as temporary,
        temporary.open("wb") as file,
    ):
        while data := archive.read(CHUNK_BYTES):
            file.write(data)
    return [ARRAY]


class NpyTable:
    """The rows of a matrix, and their labels from another file or one of its columns.

    Parameters
    ----------
    matrix
        N × d, or N × (d + 1) with the labels.
    labels
        N, or N × 1.
    label_column
        As the user has it.
    """

    def __init__(
        self,
        matrix: NpyFile,
        labels: NpyFile | None,
        label_column: int | None,
        *,
        private: bool,
    ) -> None:
        if len(matrix.shape) != 2:
            raise UserError(
                f"{matrix.name} has shape {matrix.shape}; expected a matrix, one row "
                "for each sample"
            )
        self.name = matrix.name
        self.length, columns = matrix.shape
        self.private = private
        if labels is not None and labels.shape not in {
            (self.length,),
            (self.length, 1),
        }:
            raise UserError(
                f"{labels.name} has shape {labels.shape}; expected ({self.length},), "
                f"a label for each row of {matrix.name}"
            )
        self._matrix = matrix
        self._labels = labels
        self._label = label_number(matrix.name, label_column, columns)

    def read(self, start: int, stop: int, dtype: np.dtype[Any], *, owned: bool) -> Rows:
        """Map the rows of [start, stop), or copy them where they must be changed."""
        columns = None
        if self._label is not None:
            columns = np.delete(np.arange(self._matrix.shape[1]), self._label)
        dense = self._matrix.read(start, stop, dtype, owned=owned, columns=columns)
        check_finite(self._matrix.name, start, dense, columns)
        labels = None
        if self._label is not None:
            column = np.array([self._label])
            labels = self._matrix.read(start, stop, dtype, owned=True, columns=column)
            check_finite(self._matrix.name, start, labels, column)
        elif self._labels is not None:
            labels = self._labels.read(start, stop, dtype, owned=True)
            check_finite(self._labels.name, start, labels.reshape(-1, 1), None)
        self._matrix.check_same()
        if self._labels is not None:
            self._labels.check_same()
        return Rows(
            columns=dense.shape[1],
            dense=dense,
            labels=None if labels is None else labels.flatten(),
        )


def check_finite(name: str, start: int, rows: Array, columns: Array | None) -> None:
    """Refuse numbers that are not finite, naming the first by row and column."""
    step = max(1, CHUNK_BYTES // max(1, rows.itemsize * rows.shape[1]))
    for low in range(0, len(rows), step):
        finite = np.isfinite(rows[low : low + step])
        if not finite.all():
            row, column = np.argwhere(~finite)[0]
            number = rows[low + row, column]
            kind = f" in {rows.dtype}" * (rows.dtype != np.float64)
            raise UserError(
                f"{name}, row {start + low + row}, column "
                f"{column if columns is None else columns[column]} (counted from 0): "
                f"{number}{kind}; expected finite numbers"
            )
