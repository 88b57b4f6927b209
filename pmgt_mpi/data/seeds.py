"""The streams of random numbers from which data are drawn, apart from one another."""

from __future__ import annotations

import numpy as np

ROWS, MODEL, ORDER = range(3)
"""Keys: the rows, block by block; what all rows have in common; the shuffled order."""


def child(seed: np.random.SeedSequence, *key: int) -> np.random.Generator:
    """Return the generator under a key; unlike ``spawn``, always the same one."""
    sequence = np.random.SeedSequence(
        entropy=seed.entropy,
        spawn_key=(*seed.spawn_key, *key),
        pool_size=seed.pool_size,
    )
    return np.random.default_rng(sequence)
