"""LIBSVM (SVMlight) files."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pmgt_mpi.data.libsvm_lines import MOST_COLUMNS, LibsvmParser
from pmgt_mpi.data.source import Table
from pmgt_mpi.data.text import Parse, open_text
from pmgt_mpi.errors import UserError
from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.options import Count


class Libsvm:
    """LIBSVM text, plain or packed (.gz, .bz2, .xz): sparse rows with labels.

    Parameters
    ----------
    path
        The file; with {agent} in it, each agent reads a file of its own.
    columns
        d; without it the largest index in the data is the last column, and one above
        67,108,864 is refused.
    zero_based
        Whether indices count from 0; by the format's custom they count from 1.
    """

    def __init__(
        self, *, path: str, columns: Count | None = None, zero_based: bool = False
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
