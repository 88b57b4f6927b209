"""A gossip matrix that comes from outside: read, and brought into one form."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from tokenize import TokenError
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pmgt_mpi.errors import UserError
from pmgt_mpi.graphs.spectrum import Matrix
from pmgt_mpi.graphs.textfile import text_lines, unreadable


def read_matrix(path: Path) -> Matrix:
    """Read W from ``.npy``, ``.npz`` (`scipy.sparse.save_npz`), or text.

    In text a line is a row, its numbers with blanks or commas between; what follows a
    ``#`` is ignored. Dense files are read row by row: W is kept sparse.
    """
    suffix = path.suffix.lower()
    try:
        if suffix == ".npy":
            return as_matrix(np.lib.format.open_memmap(path, mode="r"), str(path))
        if suffix == ".npz":
            return as_matrix(sparse.load_npz(path), str(path))
    except OSError as error:
        raise unreadable(path, error) from error
    except (
        ValueError, EOFError, BadZipFile, KeyError, SyntaxError, TokenError,
    ) as error:  # fmt: skip
        expected = "numpy.save" if suffix == ".npy" else "scipy.sparse.save_npz"
        raise UserError(
            f"{path}: not a file of {expected} ({error}); write W with {expected}, or "
            "as text"
        ) from error
    return as_matrix(_from_rows(_text_rows(path), str(path)), str(path))


def _text_rows(path: Path) -> Iterable[NDArray[np.float64]]:
    for number, line in text_lines(path):
        numbers = line.partition("#")[0].replace(",", " ").split()
        if not numbers:
            continue
        try:
            yield np.array(numbers, dtype=np.float64)
        except ValueError as error:
            raise UserError(
                f"{path}: line {number}: {error}; expected one row of W, numbers with "
                "blanks or commas between"
            ) from error


def _from_rows(rows: Iterable[NDArray[np.float64]], where: str) -> Matrix:
    """CSR from dense rows, one in memory at a time."""
    columns, values, ends = [], [], [0]
    width = 0
    for i, row in enumerate(rows):
        width = width or row.size
        if row.size != width:
            raise UserError(
                f"{where}: row {i} of W has {row.size} numbers, and the rows before it "
                f"{width}; expected a square matrix"
            )
        (nonzero,) = np.nonzero(row)
        columns.append(nonzero)
        values.append(np.asarray(row[nonzero], dtype=np.float64))
        ends.append(ends[-1] + nonzero.size)
    if not columns:
        raise UserError(f"{where}: W is empty; expected a square matrix")
    return sparse.csr_array(
        (np.concatenate(values), np.concatenate(columns), ends),
        shape=(len(columns), width),
    )


def as_matrix(given: Any, where: str) -> Matrix:
    """Bring what was given into the one form: CSR, float64, no stored zeros."""
    if not sparse.issparse(given):
        try:
            given = np.asanyarray(given)
        except ValueError as error:
            raise UserError(f"{where}: W is not a matrix: {error}") from error
    square = given.ndim == 2 and given.shape[0] == given.shape[1] > 0
    if not square or given.dtype.kind not in "fiub":
        raise UserError(
            f"{where}: W has shape {given.shape} and dtype {given.dtype}; expected a "
            "square matrix of real numbers"
        )
    W = (
        sparse.csr_array(given, dtype=np.float64, copy=True)
        if sparse.issparse(given)
        else _from_rows(given, where)
    )
    W.sum_duplicates()
    W.eliminate_zeros()
    return W
