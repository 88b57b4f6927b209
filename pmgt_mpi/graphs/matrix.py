"""A gossip matrix that comes from outside: read, and brought into one form."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pmgt_mpi.errors import UserError
from pmgt_mpi.graphs.arrayfile import Archive, mapped
from pmgt_mpi.graphs.spectrum import Matrix
from pmgt_mpi.graphs.textfile import shortened, text_lines, unreadable

WRITERS = {".npy": "numpy.save", ".npz": "scipy.sparse.save_npz"}


def read_matrix(path: Path, m: int) -> Matrix:
    """Read W of m agents from ``.npy``, ``.npz`` (`scipy.sparse.save_npz`), or text.

    The format of an .npz file is csr, csc or coo. In text a line is a row, its numbers
    with blanks or commas between; what follows a ``#`` is ignored. Dense files are read
    row by row: W is kept sparse.
    """
    suffix = path.suffix.lower()
    if suffix not in WRITERS:
        return _from_rows(_text_rows(path), m, str(path))
    try:
        if suffix == ".npy":
            given: Any = mapped(path)
        else:
            with path.open("rb") as file, ZipFile(file) as archive:
                stored = Archive(archive)
                check_size(stored.shape, m, str(path))
                values, places = stored.entries(m)
            given = sparse.coo_array((values, places), stored.shape)
    except UserError:
        raise
    except OSError as error:
        raise unreadable(path, error) from error
    except Exception as error:  # where any byte may be wrong, parsers raise anything
        writer = WRITERS[suffix]
        raise UserError(
            f"{path}: not a file of {writer} ({shortened(error, 200)}); write W with "
            f"{writer}, or as text"
        ) from error
    return as_matrix(given, m, str(path))


def _text_rows(path: Path) -> Iterable[NDArray[np.float64]]:
    for number, line in text_lines(path):
        numbers = line.partition("#")[0].replace(",", " ").split()
        if not numbers:
            continue
        try:
            yield np.array(numbers, dtype=np.float64)
        except ValueError as error:
            raise UserError(
                f"{path}: line {number}: {shortened(error)}; expected one row of W, "
                "numbers with blanks or commas between"
            ) from error


def _from_rows(rows: Iterable[NDArray[Any]], m: int, where: str) -> Matrix:
    """CSR from dense rows, one in memory at a time."""
    columns, values, ends = [], [], [0]
    for i, row in enumerate(rows):
        if row.size != m:
            raise _wrong_size(f"row {i} of W has {row.size} numbers", m, where)
        if i == m:
            raise _wrong_size("W has more rows", m, where)
        (nonzero,) = np.nonzero(row)
        columns.append(nonzero)
        values.append(np.asarray(row[nonzero], dtype=np.float64))
        ends.append(ends[-1] + nonzero.size)
    if len(columns) < m:
        raise _wrong_size(f"W has {len(columns)} rows", m, where)
    return sparse.csr_array(
        (np.concatenate(values), np.concatenate(columns), ends), shape=(m, m)
    )


def check_size(shape: tuple[int, ...], m: int, where: str) -> None:
    """Refuse a W of another size than the world."""
    if shape != (m, m):
        sides = shortened(" × ".join(map(str, shape)) or "a number")
        raise _wrong_size(f"W is {sides}", m, where)


def _wrong_size(what: str, m: int, where: str) -> UserError:
    return UserError(
        f"{where}: {what}, but the number of agents is {m}; give a W of {m} × {m}, or "
        "start as many ranks as W has rows"
    )


def as_matrix(given: Any, m: int, where: str) -> Matrix:
    """Bring what was given into the one form: CSR, float64, no stored zeros."""
    if not sparse.issparse(given):
        try:
            given = np.asarray(given)
        except ValueError as error:
            raise UserError(f"{where}: W is not a matrix: {error}") from error
    if given.ndim != 2 or given.dtype.kind not in "fiub":
        raise UserError(
            f"{where}: W has shape {given.shape} and dtype {shortened(given.dtype)}; "
            "expected a square matrix of real numbers"
        )
    check_size(given.shape, m, where)
    with np.errstate(over="ignore"):  # what is not finite is refused by name, later
        W = (
            sparse.csr_array(given, dtype=np.float64, copy=True)
            if sparse.issparse(given)
            else _from_rows(given, m, where)
        )
    W.sum_duplicates()
    W.eliminate_zeros()
    return W
