"""What a source of data is, in two steps: options, then a table that can be read."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import numpy as np

from pmgt_mpi.data.rows import Rows
from pmgt_mpi.errors import UserError
from pmgt_mpi.mpi.collective import Collective


class LineError(Exception):
    """A line of text that cannot be used.

    Attributes
    ----------
    line
        Its number, from 1, counted from where the reader began. Only all agents
        together know how many lines come before.
    what
        What is wrong with it and what was expected.
    """

    def __init__(self, line: int, what: str) -> None:
        super().__init__(f"line {line}: {what}")
        self.line = line
        self.what = what


def excerpt(text: str, most: int = 60) -> str:
    """Return the beginning of a wrong item, for a message."""
    return text if len(text) <= most else text[:most] + "…"


class Table(Protocol):
    """A data set that is ready to be read, by ranges.

    A range is counted in rows where their number is known beforehand. In plain text it
    is counted in bytes: a line belongs to the range in which its first byte lies.

    Attributes
    ----------
    name
        What it is, for messages: the path of a file.
    length
        Number of rows, or of bytes; ranges are cut from [0, length).
    private
        Whether it is this agent's alone, to be read whole.
    """

    name: str
    length: int
    private: bool

    def read(self, start: int, stop: int, dtype: np.dtype[Any], *, owned: bool) -> Rows:
        """Read the rows of [start, stop) and touch no others.

        With `owned` their arrays are memory of their own, which can be cut down in
        place; without it they may be parts of a mapped file (copied on write).

        Raises
        ------
        UserError, LineError
            For what cannot be used: no number, not finite, ragged.
        """
        ...


class Source(Protocol):
    """A section of a config that says where rows come from.

    A class made as ``Class(*, options…)``; its keyword-only parameters are the keys.
    """

    def open(
        self, collective: Collective, *, base: Path | None, seed: np.random.SeedSequence
    ) -> Table:
        """Find the data and make them ready, on all agents together.

        Parameters
        ----------
        collective
            All agents; wrong input that one of them finds is raised by all.
        base
            Folder that relative paths start from; None is the current folder.
        seed
            Root of the streams from which data are drawn.
        """
        ...


def label_number(name: str, column: int | None, columns: int) -> int | None:
    """Return the number of the label's column, from 0, or None if there is none.

    Parameters
    ----------
    name
        What to call the file.
    column
        As the user has it; −1 is the last.
    columns
        How many there are; 0 in a file without rows.
    """
    if column is None or columns == 0:
        return None
    if not -columns <= column < columns:
        raise UserError(
            f"data.label_column = {column}, but {name} has {columns} "
            f"column{'s' * (columns > 1)}; expected {-columns} to {columns - 1}"
        )
    if columns == 1:
        raise UserError(
            f"{name} has no column besides the label (data.label_column = {column}); "
            "expected at least one feature"
        )
    return column % columns
