"""The network as agent 0 sees it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.graphs.neighbourhood import Neighbourhood
from pmgt_mpi.graphs.spectrum import Matrix

PSD_TOLERANCE = 1e-12
"""A λ_min above minus this counts as 0."""


@dataclass(frozen=True)
class Network:
    """The gossip matrix and its spectrum. It lives on agent 0 alone.

    Attributes
    ----------
    W
        The gossip matrix, CSR with sorted columns: symmetric, W1 = 1, spectrum in
        (−1, 1], eigenvalue 1 simple.
    topology, weights
        Names of what they were built from, for the log.
    lambda_2, lambda_min
        Second largest and smallest eigenvalue; both 0 for a single agent.
    """

    W: Matrix
    topology: str
    weights: str
    lambda_2: float
    lambda_min: float

    @property
    def agents(self) -> int:
        """Number of agents, m."""
        return int(self.W.shape[0])

    @property
    def edges(self) -> int:
        """Number of edges: messages go both ways where W_ij ≠ 0, and nowhere else."""
        return int(self.degrees.sum()) // 2

    @property
    def degrees(self) -> NDArray[np.int64]:
        """Number of neighbours of each agent."""
        return np.diff(self.W.indptr) - (self.W.diagonal() != 0)  # type: ignore[no-any-return]

    @property
    def psd(self) -> bool:
        """Whether 0 ⪯ W, which the paper's definition adds."""
        return self.lambda_min >= -PSD_TOLERANCE

    @property
    def nonnegative(self) -> bool:
        """Whether W_ij ≥ 0, which the paper's definition adds."""
        return bool(np.all(self.W.data >= 0))

    def edge_list(self) -> list[tuple[int, int]]:
        """Give the edges as pairs i < j, in increasing order."""
        entries = self.W.tocoo()
        above = entries.row < entries.col
        return list(
            zip(entries.row[above].tolist(), entries.col[above].tolist(), strict=True)
        )

    def neighbourhood(self, agent: int) -> Neighbourhood:
        """Give what one agent keeps: its row of W, and the spectrum."""
        row = slice(self.W.indptr[agent], self.W.indptr[agent + 1])
        columns, values = self.W.indices[row], self.W.data[row]
        others = columns != agent
        return Neighbourhood(
            agent=agent,
            agents=self.agents,
            neighbours=tuple(columns[others].tolist()),
            weights=values[others],
            own_weight=float(values[~others].sum()),
            lambda_2=self.lambda_2,
            lambda_min=self.lambda_min,
        )
