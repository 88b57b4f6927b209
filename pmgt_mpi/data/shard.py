"""The rows that one agent holds."""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.errors import UserError

Array = NDArray[Any]


class Shard(NamedTuple):
    """One agent's part of the data set, and what it must know of the whole.

    Attributes
    ----------
    A
        The agent's rows, n_i × d: a C-contiguous array, or a scipy CSR array.
    labels
        One number a row, or None where the source has none.
    total_rows
        N, the rows of all agents together.
    agents
        m, the number of agents.
    """

    A: Any
    labels: Array | None
    total_rows: int
    agents: int

    @property
    def rows(self) -> int:
        """n_i, the rows of this agent."""
        return int(self.A.shape[0])

    @property
    def columns(self) -> int:
        """d, the number of features."""
        return int(self.A.shape[1])

    @property
    def sparse(self) -> bool:
        """Whether the rows are CSR."""
        return not isinstance(self.A, np.ndarray)

    @property
    def weight(self) -> float:
        """m n_i / N: with it the mean over agents is the mean over all rows."""
        return self.agents * self.rows / self.total_rows

    @property
    def nbytes(self) -> int:
        """Bytes that the rows and labels take in memory."""
        parts = (
            [self.A]
            if isinstance(self.A, np.ndarray)
            else [self.A.data, self.A.indices, self.A.indptr]
        )
        if self.labels is not None:
            parts.append(self.labels)
        return sum(int(part.nbytes) for part in parts)

    def digest(self) -> str:
        """Fingerprint of the rows and labels, bit for bit."""
        digest = hashlib.blake2b(digest_size=16)
        digest.update(repr((self.A.shape, str(self.A.dtype), self.sparse)).encode())
        parts = [self.A] if not self.sparse else [self.A.indptr, self.A.indices]
        if self.sparse:
            parts.append(self.A.data)
        if self.labels is not None:
            parts.append(self.labels)
        for part in parts:
            digest.update(np.ascontiguousarray(part).reshape(-1).data)
        return digest.hexdigest()


def check_magnitude(shard: Shard, *, given: bool = False) -> None:
    """Refuse numbers whose squares, which every problem here adds up, overflow.

    Parameters
    ----------
    shard
        The rows.
    given
        Whether a program has given them, and no section of a config.
    """
    values = shard.A.data if shard.sparse else shard.A
    limit = np.sqrt(np.finfo(shard.A.dtype).max / max(1, values.size))
    features = "set data.scale to 'unit', 'standard' or 'minmax'"
    labels = "divide the labels by a number (data.scale leaves them as they are)"
    places = dict.fromkeys(("number", "label"), "[data] has a")
    if given:
        features, labels = (f"divide the {x} by a number" for x in ("rows", "labels"))
        places = {"number": "solve: rows has a", "label": "solve: labels has a"}
    for kind, part, advice in (
        ("number", values, features),
        ("label", shard.labels, labels),
    ):
        if part is None or part.size == 0:
            continue
        largest = max(part.max(), -part.min())  # without a copy
        if not largest <= limit:
            raise UserError(
                f"{places[kind]} {kind} of size {largest:.3g}, and those above "
                f"{limit:.3g} overflow when they are squared in {shard.A.dtype}; "
                f"{advice}, or take out what is wrong"
            )
