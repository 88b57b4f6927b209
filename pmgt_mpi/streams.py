"""Random streams, all derived from the one seed of a run.

A stream belongs to a purpose (``data``, ``graph``, or a method's name) and to a part of
it: the stream that all agents share, or the one that is an agent's own. So entries of a
config that run the same method see the same chance, and a difference between them comes
from their parameters alone; adding an entry, or moving it, changes no other stream.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import numpy.random  # which numpy loads late: here before agents wait for agent 0
from numpy.typing import NDArray

BLOCK = 1 << 14
"""Indices drawn at a time; drawing them one minibatch at a time costs more."""


def seed_sequence(seed: int, purpose: str, *key: int) -> np.random.SeedSequence:
    """Seed of one purpose, independent of all others."""
    digest = hashlib.blake2b(purpose.encode(), digest_size=16).digest()
    words = np.frombuffer(digest, "<u4").tolist()
    return np.random.SeedSequence(seed, spawn_key=(*words, *key))


def stream(seed: int, purpose: str, *key: int) -> np.random.Generator:
    """Random stream of one purpose."""
    return np.random.default_rng(seed_sequence(seed, purpose, *key))


ROWS, MODEL, ORDER = range(3)
"""Keys of what is drawn of a data set: the rows, block by block; what all rows have in
common; the shuffled order."""


def child(seed: np.random.SeedSequence, *key: int) -> np.random.Generator:
    """Return the generator under a key; unlike ``spawn``, always the same one."""
    sequence = np.random.SeedSequence(
        entropy=seed.entropy,
        spawn_key=(*seed.spawn_key, *key),
        pool_size=seed.pool_size,
    )
    return np.random.default_rng(sequence)


class IndexStream:
    """Indices uniform on {0, …, n−1}, with replacement, drawn in blocks.

    Parameters
    ----------
    rng
        The stream they are drawn from; it serves nothing else.
    n
        How many there are to draw from.
    """

    def __init__(self, rng: np.random.Generator, n: int) -> None:
        self._rng = rng
        self._n = n
        self._before = rng.bit_generator.state
        self._block: NDArray[np.int64] = np.empty(0, np.int64)
        self._used = 0

    def draw(self, b: int) -> NDArray[Any]:
        """Draw the next b indices; what is left of a block too short is dropped."""
        if self._used + b > len(self._block):
            self._before = self._rng.bit_generator.state
            self._block = self._rng.integers(0, self._n, max(b, BLOCK - BLOCK % b))
            self._used = 0
        drawn = self._block[self._used : self._used + b]
        self._used += b
        return drawn

    def snapshot(self) -> dict[str, Any]:
        """Where the stream stands: numbers that JSON can hold.

        The block itself is not among them: the state before it makes it again.
        """
        return {
            "before": self._before,
            "block": len(self._block),
            "used": self._used,
        }

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Go back to where `snapshot` was taken."""
        self._rng.bit_generator.state = self._before = snapshot["before"]
        self._block = np.empty(0, np.int64)
        if snapshot["block"]:
            self._block = self._rng.integers(0, self._n, snapshot["block"])
        self._used = snapshot["used"]
