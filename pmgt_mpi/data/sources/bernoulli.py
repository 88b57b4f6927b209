"""The paper's synthetic data: independent entries, −1 or +1 with probability ½."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pmgt_mpi.data.sources.synthetic import SyntheticTable, block_rows
from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.options import Count
from pmgt_mpi.streams import ROWS, child


class Bernoulli:
    """Entries −1 or +1 with probability ½ each, as in the paper's experiments.

    Parameters
    ----------
    rows
        N, of all agents together.
    columns
        d.
    """

    def __init__(self, *, rows: Count, columns: Count) -> None:
        self.rows = rows
        self.columns = columns

    def open(
        self, collective: Collective, *, base: Path | None, seed: np.random.SeedSequence
    ) -> SyntheticTable:
        """Return the table; nothing is drawn yet."""
        del collective, base
        shape = (block_rows(self.columns), self.columns)
        size = shape[0] * shape[1]

        def draw(block: int) -> tuple[np.ndarray, None]:
            random = child(seed, ROWS, block).bytes(-(-size // 8))
            bits = np.unpackbits(np.frombuffer(random, np.uint8), count=size)
            return bits.view(np.int8).reshape(shape) * 2 - 1, None

        return SyntheticTable(
            "bernoulli", self.rows, self.columns, draw, labelled=False
        )
