"""A laboratory: one problem on m agents, on which trials are run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import ceil
from typing import Any

from methods import FULL

Record = dict[str, Any]


class Lab(ABC):
    """The problem on m agents; `run` gives the costs of one trial.

    Attributes
    ----------
    every
        Steps between two evaluations of a method of full gradients, and of another.
    """

    how: str
    m: int
    n: int
    l1: float
    l2: float
    sigma: float
    kappa: float
    every: tuple[int, int]

    @abstractmethod
    def run(
        self, method: str, values: Record, seed: int, target: float, budget: float
    ) -> Record:
        """Run until the target is reached or the budget (in n) is used up.

        The record has the costs; its `cost` is what trials are compared by.
        """

    def cadence(self, method: str) -> int:
        """Steps between evaluations."""
        return self.every[method not in FULL]

    def steps(self, method: str, budget: float) -> int:
        """Steps that use a budget: n gradients an iteration, 3n an epoch on average."""
        return ceil(budget / (1 if method in FULL else 3))
