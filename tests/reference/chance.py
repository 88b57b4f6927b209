"""What chance gave in a run of the package, to be given out again in order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np


@dataclass
class Chance:
    """Iterators over all that was drawn.

    `T` and `coins` are what all agents drew together; `batches[i]` and `own_coins[i]`
    what agent i drew for itself.
    """

    T: Iterator[int]
    coins: Iterator[bool]
    batches: list[Iterator[np.ndarray]]
    own_coins: list[Iterator[bool]]

    def batch(self, b: int) -> list[np.ndarray]:
        """Every agent's next batch, of b rows."""
        drawn = [next(of_agent) for of_agent in self.batches]
        assert all(len(rows) == b for rows in drawn)
        return drawn

    def is_used_up(self) -> bool:
        """Whether nothing is left: the two runs have drawn as often as each other."""
        everything = [self.T, self.coins, *self.batches, *self.own_coins]
        return all(next(rest, None) is None for rest in everything)
