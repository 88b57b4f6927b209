"""Tables in text: what CSV and LIBSVM have in common, plain or packed.

Packed text is converted once, into the cache: its rows as arrays, read by mapping them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.data.archive import Archive, files_of, is_packed, unpacked
from pmgt_mpi.data.files import (
    check_same,
    find_file,
    is_private,
    own_path,
    reading,
    stamp,
)
from pmgt_mpi.data.rows import GrowingRows, Rows
from pmgt_mpi.data.source import LineError, Table
from pmgt_mpi.data.sources.lines import (
    first_line,
    lines_of_range,
    lines_of_stream,
    without_mark,
)
from pmgt_mpi.data.sources.npyfile import NpyFile, NpyWriter
from pmgt_mpi.errors import UserError
from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.replacing import replacing

Array = NDArray[Any]

Parse = Callable[[bytes, np.dtype[Any]], Rows]
"""Whole lines to rows of a type; no lines to no rows. Raises LineError."""

MARGIN = 1.02
"""Room beyond what the first rows lead one to expect; unused room costs nothing."""


def parsed(
    chunks: Iterator[bytes], parse: Parse, dtype: np.dtype[Any], *, skip: int = 0
) -> Iterator[Rows]:
    """Parse text in chunks of whole lines, and number the lines.

    The first `skip` lines are left out. `Rows.lines` of each result is the number of
    lines from the beginning up to its end.
    """
    before = 0
    while True:
        dropped = 0
        try:
            chunk = next(chunks, None)
            if chunk is None:
                return
            lines = chunk.count(b"\n") + (not chunk.endswith(b"\n"))
            dropped = min(lines, max(0, skip - before))
            text = chunk.split(b"\n", dropped)[dropped:] if dropped else [chunk]
            rows = parse(b"".join(text), dtype)
        except LineError as error:
            raise LineError(before + dropped + error.line, error.what) from None
        before += lines
        rows.lines = before
        yield rows


class TextTable:
    """A plain text file; ranges are in bytes.

    Parameters
    ----------
    skip
        Lines at the top that are no rows.
    """

    def __init__(self, path: Path, parse: Parse, *, skip: int, private: bool) -> None:
        self.name = str(path)
        self._stamp = stamp(path)
        self.length = self._stamp[0]
        self.private = private
        self._path = path
        self._parse = parse
        self._skip = skip

    def read(self, start: int, stop: int, dtype: np.dtype[Any], *, owned: bool) -> Rows:
        """Read the lines whose first byte lies in [start, stop)."""
        del owned  # they always are
        rows = self._parse(b"", dtype)
        grown: GrowingRows | None = None
        skip = self._skip if start == 0 else 0
        with self._path.open("rb", buffering=0) as file:
            chunks = lines_of_range(file, start, stop)
            if start == 0:
                chunks = without_mark(chunks)
            for rows in parsed(chunks, self._parse, dtype, skip=skip):
                if grown is None:
                    scale = MARGIN * max(1, (stop - start) / (file.tell() - start))
                    grown = GrowingRows(
                        rows, int(len(rows) * scale), int(rows.entries * scale)
                    )
                grown.append(rows)
        check_same(self._path, self._stamp, self.name)
        if grown is None:
            return rows
        return replace(grown.finish(), lines=rows.lines)


def write_rows(folder: Path, empty: Rows, parts: Iterable[Rows]) -> list[str]:
    """Write rows to a folder, one file for each of their arrays; return the names.

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


def open_text(
    collective: Collective,
    path: str,
    base: Path | None,
    *,
    skip: int,
    columns: int | None,
    options: dict[str, Any],
    parser: Callable[[str, bytes], Parse],
) -> Table:
    """Open a file of text, plain or packed, on all agents together.

    Parameters
    ----------
    path, base
        As `find_file` has them; {agent} in the path is filled in.
    skip
        Lines at the top that are no rows.
    columns
        d where it is given, for CSR rows.
    options
        All that the rows depend on apart from the text.
    parser
        Returns the parser for a file of this name and this first line, or says what is
        wrong with that line.
    """
    private = is_private(path)
    with collective.agreed():
        found = find_file(own_path(path, collective.agent), base)
    if not is_packed(path):
        with collective.agreed(), reading(found):
            with found.open("rb", buffering=0) as file:
                try:
                    parse = parser(str(found), first_line(file, skip))
                except LineError as error:
                    message = f"{found}, line {error.line}: {error.what}"
                    raise UserError(message) from None
            return TextTable(found, parse, skip=skip, private=private)

    def convert(packed: Path, folder: Path) -> list[str]:
        with Archive(packed) as file:
            parse = parser(str(packed), first_line(file, skip))
        float64 = np.dtype(np.float64)
        with Archive(packed) as file:
            chunks = without_mark(lines_of_stream(file))
            rows = parsed(chunks, parse, float64, skip=skip)
            return write_rows(folder, parse(b"", float64), rows)

    folder = unpacked(collective, found, options, convert, private=private)
    with collective.agreed(), reading(folder):
        return CachedTable(folder, str(found), columns=columns, private=private)
