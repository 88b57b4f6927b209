"""CSV: numbers in columns, one of which may be the label."""

from __future__ import annotations

import io
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.data.rows import Rows
from pmgt_mpi.data.source import Table, excerpt, label_number
from pmgt_mpi.data.sources.lines import parse_lines
from pmgt_mpi.data.sources.text import Parse, open_text
from pmgt_mpi.errors import UserError
from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.options import FilePath

Array = NDArray[Any]


class Csv:
    """Numbers in lines of text, plain or packed (.gz, .bz2, .xz); a line is a row.

    Parameters
    ----------
    path
        The file; with ``{agent}`` or ``{agent:03d}`` in it, each agent reads a file
        of its own.
    label_column
        Number of the column that is the label, from 0; −1 is the last.
    delimiter
        One character, between two numbers; a blank stands for any blanks and tabs.
    header
        Whether the first line holds names.
    """

    def __init__(
        self,
        *,
        path: FilePath,
        label_column: int | None = None,
        delimiter: str = ",",
        header: bool = False,
    ) -> None:
        if len(delimiter) != 1 or not delimiter.isascii() or delimiter in "\r\n":
            raise UserError(
                f"data.delimiter = {delimiter!r}; expected one character, such as "
                "',' or ';' or '\\t', or ' ' for any blanks"
            )
        self.path = path
        self.label_column = label_column
        self.delimiter = delimiter
        self.header = header

    def open(
        self, collective: Collective, *, base: Path | None, seed: np.random.SeedSequence
    ) -> Table:
        """Find the file, and see from its first line how many columns there are."""
        del seed

        def parser(name: str, line: bytes) -> Parse:
            delimiter = None if self.delimiter == " " else self.delimiter.encode()
            fields = len(line.split(delimiter)) if line else 0
            parse = CsvParser(
                fields, label_number(name, self.label_column, fields), delimiter
            )
            if b"\0" in line and not parse.is_numeric(line):
                raise UserError(
                    f"{name} has zero bytes, as a binary file or one in UTF-16; "
                    "expected text in UTF-8 or ASCII"
                )
            if not self.header and not parse.is_numeric(line):
                raise UserError(
                    f"{name}: the first line is not a row of numbers; if it holds the "
                    "names of the columns, set data.header = true"
                )
            return parse

        options = {
            "source": "csv",
            "label_column": self.label_column,
            "delimiter": self.delimiter,
            "header": self.header,
        }
        return open_text(
            collective,
            self.path,
            base,
            skip=int(self.header),
            columns=None,
            options=options,
            parser=parser,
        )


class CsvParser:
    """Lines to dense rows, by NumPy's reader, which is compiled.

    Parameters
    ----------
    fields
        Numbers in each line, the label included.
    label
        Which of them is the label, from 0.
    delimiter
        None for any blanks.
    """

    def __init__(self, fields: int, label: int | None, delimiter: bytes | None) -> None:
        self._fields = fields
        self._label = label
        self._delimiter = delimiter

    def __call__(self, text: bytes, dtype: np.dtype[Any]) -> Rows:
        """Parse whole lines; empty ones are left out."""
        table = parse_lines(
            text, partial(self._table, dtype), partial(self._explain, dtype)
        )
        if self._label is None:
            return Rows(columns=self._fields, dense=table)
        features = np.delete(table, self._label, axis=1)
        labels = table[:, self._label].copy()
        return Rows(columns=self._fields - 1, dense=features, labels=labels)

    def is_numeric(self, text: bytes) -> bool:
        """Whether there are only numbers in a text, finite or not."""
        return self._numbers(np.dtype(np.float64), text) is not None

    def _table(self, dtype: np.dtype[Any], text: bytes) -> Array | None:
        """Parse lines; None if any of them is wrong."""
        table = self._numbers(dtype, text)
        if table is None or table.shape[1] != self._fields:
            return None
        return table if np.isfinite(table).all() else None

    def _numbers(self, dtype: np.dtype[Any], text: bytes) -> Array | None:
        if not text.strip(b"\r\n" if self._delimiter else None):
            return np.empty((0, self._fields), dtype)
        try:
            return np.loadtxt(
                io.BytesIO(text),
                dtype,
                comments=None,
                delimiter=self._delimiter.decode() if self._delimiter else None,
                ndmin=2,
                encoding="latin1",
            )
        except ValueError:
            return None

    def _explain(self, dtype: np.dtype[Any], line: bytes) -> str:
        fields = line.rstrip(b"\r").split(self._delimiter)
        if len(fields) != self._fields:
            return f"{len(fields)} fields; expected {self._fields}, as in the first row"
        for column, field in enumerate(fields):
            shown = excerpt(field.strip().decode("latin1"))
            number = self._numbers(dtype, field)
            if not shown:
                return f"column {column} (from 0) is empty; expected a number"
            if number is None or not np.isfinite(number).all():
                return (
                    f"'{shown}' in column {column} (from 0); expected a finite number"
                )
        return f"expected {self._fields} finite numbers"
