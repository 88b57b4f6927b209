"""The network as agent 0 sees it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.graphs.gossip_matrix import GossipMatrix
from pmgt_mpi.graphs.neighbourhood import Neighbourhood

PSD_TOLERANCE = 1e-12
"""A λ_min above minus this counts as 0."""


class Network(NamedTuple):
    """The gossip matrix and its spectrum. It lives on agent 0 alone.

    Attributes
    ----------
    W
        The gossip matrix: symmetric, W1 = 1, spectrum in (−1, 1], eigenvalue 1 simple.
    topology, weights
        Names of what they were built from, for the log.
    lambda_2, lambda_min
        Second largest and smallest eigenvalue; both 0 for a single agent.
    """

    W: GossipMatrix
    topology: str
    weights: str
    lambda_2: float
    lambda_min: float

    @property
    def agents(self) -> int:
        """Number of agents, m."""
        return self.W.agents

    @property
    def edges(self) -> int:
        """Number of edges: messages go both ways where W_ij ≠ 0, and nowhere else."""
        return self.W.columns.size // 2

    @property
    def degrees(self) -> NDArray[np.int64]:
        """Number of neighbours of each agent."""
        return self.W.degrees

    @property
    def psd(self) -> bool:
        """Whether 0 ⪯ W, which the paper's definition adds."""
        return self.lambda_min >= -PSD_TOLERANCE

    @property
    def nonnegative(self) -> bool:
        """Whether W_ij ≥ 0, which the paper's definition adds."""
        return bool(np.all(self.W.weights >= 0) and np.all(self.W.own >= 0))

    def edge_list(self) -> list[tuple[int, int]]:
        """Return the edges as pairs i < j, in increasing order."""
        rows, columns = self.W.rows, self.W.columns
        above = rows < columns
        return list(zip(rows[above].tolist(), columns[above].tolist(), strict=True))

    def neighbourhood(self, agent: int) -> Neighbourhood:
        """Return what one agent keeps: its row of W, and the spectrum."""
        row = slice(self.W.starts[agent], self.W.starts[agent + 1])
        return Neighbourhood(
            agent=agent,
            agents=self.agents,
            neighbours=tuple(self.W.columns[row].tolist()),
            weights=self.W.weights[row].copy(),  # and does not keep all of W
            own_weight=float(self.W.own[agent]),
            lambda_2=self.lambda_2,
            lambda_min=self.lambda_min,
        )
