"""A gossip matrix that comes from outside: read, brought into one form, and checked."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from pmgt_mpi.errors import UserError, shortened
from pmgt_mpi.graphs.arrayfile import Archive, mapped
from pmgt_mpi.graphs.spectrum import Extremes, Matrix, extremes
from pmgt_mpi.graphs.textfile import text_lines, unreadable
from pmgt_mpi.graphs.topologies import Graph

WRITERS = {".npy": "numpy.save", ".npz": "scipy.sparse.save_npz"}

TOLERANCE = 1e-12
"""Asymmetry and error of a row's sum; what is left over drifts in every round."""

WILD = 1e6
"""Above it a number is refused by itself: sums and products with it may overflow."""

SPECTRAL_TOLERANCE = 1e-13
"""Rounding of an eigenvalue that is computed of a matrix of norm 1."""


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


def checked_symmetric(W: Matrix, where: str) -> Matrix:
    """Refuse a W of wild numbers, not symmetric, or whose rows do not sum to 1.

    Rounding is evened out: an agent that expects a message must be sent one, so that
    W_ij and W_ji are both 0 or both not.
    """
    entries = W.tocoo()
    bad = np.flatnonzero(~(np.abs(entries.data) <= WILD))
    if bad.size:
        i, j = entries.row[bad[0]], entries.col[bad[0]]
        raise UserError(
            f"{where}: W[{i}, {j}] is {entries.data[bad[0]]}; expected numbers from -1 "
            "to 1, between which those of a gossip matrix lie"
        )
    skew = (W - W.T).tocoo()
    bad = np.flatnonzero(np.abs(skew.data) > TOLERANCE)
    if bad.size:
        i, j = skew.row[bad[0]], skew.col[bad[0]]
        raise UserError(
            f"{where}: W is not symmetric: W[{i}, {j}] = {W[i, j]:.15g}, but "
            f"W[{j}, {i}] = {W[j, i]:.15g}; expected the same within {TOLERANCE:g}"
        )
    sums = W.sum(axis=1)
    bad = np.flatnonzero(np.abs(sums - 1) > TOLERANCE)
    if bad.size:
        raise UserError(
            f"{where}: row {bad[0]} of W sums to {sums[bad[0]]:.15g}; expected 1 "
            f"within {TOLERANCE:g}: correct it, or write W with all its digits (17)"
        )
    return sparse.csr_array((W + W.T) / 2)


def check_edges(W: Matrix, graph: Graph, where: str) -> None:
    """Refuse a weight between two agents that the graph does not link."""
    entries = W.tocoo()
    above = entries.row < entries.col
    for i, j in zip(entries.row[above], entries.col[above], strict=True):
        if int(j) not in graph[int(i)]:
            raise UserError(
                f"{where}: W[{i}, {j}] = {W[i, j]:.15g}, but the graph has no edge "
                f"between {i} and {j}; set it to 0, add the edge, or give W alone"
            )


def checked_spectrum(W: Matrix, where: str) -> Extremes:
    """λ_min and λ₂ of a symmetric W with W1 = 1; refused unless −1 < λ_min, λ₂ < 1.

    On the complement of 1 that is all that gossip needs: spectrum in (−1, 1], and the
    eigenvalue 1 simple.
    """
    if W.shape[0] == 1:
        return Extremes(0.0, 0.0)
    mu_2, mu_max = extremes(_identity_minus(W))
    if mu_2 <= SPECTRAL_TOLERANCE:
        raise UserError(
            f"{where}: W has an eigenvalue {1 - mu_2:.15g} besides the 1 of consensus; "
            "expected all others below 1: make the weights positive, or smaller"
        )
    if mu_max >= 2 - SPECTRAL_TOLERANCE:
        raise UserError(
            f"{where}: W has the eigenvalue {1 - mu_max:.15g}; expected all above -1: "
            "use (I + W) / 2, or smaller weights"
        )
    return Extremes(1 - mu_max, 1 - mu_2)


def _identity_minus(W: Matrix) -> Matrix:
    return (sparse.diags_array(np.ones(W.shape[0])) - W).tocsr()
