"""LIBSVM (SVMlight) text: ``label index:value index:value …``, one row a line.

Parsed with NumPy. scikit-learn's reader is about as fast, but to import it takes 89 MB
of memory, 21 MB of reading and a second, on every rank.
"""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.data.rows import Rows
from pmgt_mpi.data.source import Table, excerpt
from pmgt_mpi.data.sources.lines import parse_lines
from pmgt_mpi.data.sources.text import Parse, open_text
from pmgt_mpi.errors import UserError
from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.options import Count, FilePath

Array = NDArray[Any]

COMMENT = re.compile(rb"#[^\n]*")
QUERY = re.compile(rb"(?<=[ \t])qid:\d+(?=\s|$)")
SPACE, NEWLINE, COLON = b" \n:"
LAST_ASCII = 127
TO_BLANKS = bytes.maketrans(b":\r\n", b"   ")

MOST_COLUMNS = np.iinfo(np.int32).max
"""Columns, at most: the type of the indices."""

MOST_GUESSED = 1 << 26
"""Columns, at most, where they are not given but follow from the largest index. Every
agent holds x and some ten vectors of its length, here half a gigabyte each; one digit
too many in one line would take all memory. The widest public sets are narrower."""
TOO_WIDE = ", as every agent holds vectors of that length; for more set data.columns"


class Libsvm:
    """LIBSVM text, plain or packed (.gz, .bz2, .xz): sparse rows with labels.

    Parameters
    ----------
    path
        The file; with ``{agent}`` or ``{agent:03d}`` in it, each agent reads a file
        of its own.
    columns
        d; without it the largest index in the data is the last column, and one above
        67,108,864 is refused.
    zero_based
        Whether indices count from 0; by the format's custom they count from 1.
    """

    def __init__(
        self, *, path: FilePath, columns: Count | None = None, zero_based: bool = False
    ) -> None:
        if columns is not None and columns > MOST_COLUMNS:
            raise UserError(
                f"data.columns = {columns}; expected at most {MOST_COLUMNS} for libsvm"
            )
        self.path = path
        self.columns = columns
        self.zero_based = zero_based

    def open(
        self, collective: Collective, *, base: Path | None, seed: np.random.SeedSequence
    ) -> Table:
        """Find the file."""
        del seed

        def parser(name: str, line: bytes) -> Parse:
            del name, line
            return LibsvmParser(self.columns, 0 if self.zero_based else 1)

        options = {
            "source": "libsvm",
            "columns": self.columns,
            "zero_based": self.zero_based,
        }
        return open_text(
            collective,
            self.path,
            base,
            skip=0,
            columns=self.columns,
            options=options,
            parser=parser,
        )


class LibsvmParser:
    """Lines to CSR rows.

    Parameters
    ----------
    columns
        d, or None.
    base
        The index of the first column, 0 or 1.
    """

    def __init__(self, columns: int | None, base: int) -> None:
        self._columns = columns
        self._base = base
        self._end = base + (columns or MOST_GUESSED)

    def __call__(self, text: bytes, dtype: np.dtype[Any]) -> Rows:
        """Parse whole lines; those without a label are left out."""
        # Comments and query ids become nothing; no line is lost or gained.
        plain = COMMENT.sub(b"", text) if b"#" in text else text
        plain = QUERY.sub(b"", plain) if b"qid:" in plain else plain
        return parse_lines(
            plain, partial(self._rows, dtype), partial(self._explain, dtype)
        )

    def _rows(self, dtype: np.dtype[Any], text: bytes) -> Rows | None:
        """Parse lines; None if any of them is wrong."""
        text += b"\n"
        symbols = np.frombuffer(text, np.uint8)
        if symbols.max() > LAST_ASCII:  # some of these are blanks for NumPy's reader
            return None
        inside = symbols > SPACE
        colons = np.flatnonzero(symbols == COLON)
        starts = np.flatnonzero(inside & ~np.concatenate([[False], inside[:-1]]))
        line_of = np.searchsorted(np.flatnonzero(symbols == NEWLINE), starts)
        is_label = np.concatenate([[True], np.diff(line_of) > 0])[: len(starts)]

        # Each item but the first of a line has one colon, and a number on each side.
        item_of = np.searchsorted(starts, colons, side="right") - 1
        if not np.array_equal(item_of, np.flatnonzero(~is_label)):
            return None
        numbers = numbers_in(text)
        if numbers is None or len(numbers) != len(starts) + len(colons):
            return None

        label_items = np.flatnonzero(is_label)
        n = len(label_items)
        labels_at = 2 * label_items - np.arange(n)
        pairs = np.delete(numbers, labels_at).reshape(-1, 2)
        lengths = np.diff(label_items, append=len(starts)) - 1
        index = pairs[:, 0]
        with np.errstate(over="ignore"):
            labels = numbers[labels_at].astype(dtype)
            values = pairs[:, 1].astype(dtype)
        increasing = np.diff(index) > 0
        row_ends = np.cumsum(lengths)[:-1] - 1
        inner = (row_ends >= 0) & (row_ends < len(increasing))
        increasing[row_ends[inner]] = True
        if not (
            np.isfinite(labels).all()
            and np.isfinite(values).all()
            and ((index >= self._base) & (index < self._end)).all()
            and (index == np.floor(index)).all()
            and increasing.all()
        ):
            return None
        indices = (index - self._base).astype(np.int32)
        columns = self._columns or int(indices.max(initial=-1)) + 1
        return Rows(
            columns=columns,
            lengths=lengths,
            indices=indices,
            values=values,
            labels=labels,
        )

    def _explain(self, dtype: np.dtype[Any], line: bytes) -> str:
        label, *items = (item.decode("latin1") for item in line.split())
        if not is_finite(dtype, label):
            message = f"label '{excerpt(label)}'"
            return f"{message}; expected a finite number, then index:value …"
        before = -1.0
        for item in items:
            index, _, value = item.partition(":")
            if ":" in value or not is_finite(dtype, index, value):
                return f"'{excerpt(item)}'; expected index:value, finite numbers"
            j = float(index)
            if j == 0 < self._base:
                return "index 0; if indices count from 0, set data.zero_based = true"
            message = f"index {excerpt(index)}"
            if not self._base <= j < self._end or not j.is_integer():
                message += f"; expected {self._base} to {self._end - 1}"
                return message if self._columns or j < self._end else message + TOO_WIDE
            if j <= before:
                return f"{message} after {before:.0f}; expected increasing indices"
            before = j
        return "expected label index:value …"


def is_finite(dtype: np.dtype[Any], *items: str) -> bool:
    """Whether each of some texts is one number, and finite as a number of this type."""
    numbers = [numbers_in(item.encode("latin1")) for item in items]
    with np.errstate(over="ignore"):
        return all(
            n is not None and len(n) == 1 and np.isfinite(n.astype(dtype)[0])
            for n in numbers
        )


def numbers_in(text: bytes) -> Array | None:
    """Return the numbers between blanks and colons; None if there is anything else.

    All of them are one row for NumPy's reader, which need not look for lines then.
    """
    row = text.translate(TO_BLANKS).decode("latin1")
    if not row or row.isspace():
        return np.empty(0)
    try:
        return np.loadtxt([row], comments=None, ndmin=1)
    except ValueError:
        return None
