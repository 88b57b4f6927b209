"""A laboratory: one problem on m agents, on which trials are run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import ceil
from typing import Any

from experiment import NIDS

Record = dict[str, Any]


class Lab(ABC):
    """The problem on m agents; `run` gives the costs of one trial."""

    how: str
    seed: int
    m: int
    r: int
    n: int
    l1: float
    l2: float
    sigma: float
    kappa: float

    @abstractmethod
    def run(
        self, method: str, values: Record, seed: int, target: float, budget: float
    ) -> Record:
        """Run until the target is reached or the budget (in n) is used up."""

    def every(self, method: str) -> int:
        """Steps between evaluations: about 1 % of a run."""
        return 20 if method == NIDS else {2: 1, 300: 3}[self.r]

    def steps(self, method: str, budget: float) -> int:
        """Steps that use a budget: n gradients an iteration, 3n an epoch on average."""
        return ceil(budget / (1 if method == NIDS else 3))
