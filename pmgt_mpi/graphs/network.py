"""The network as agent 0 sees it: the gossip matrix W and its spectrum.

Agent 0 builds W and cuts it into rows, and all others wait for it. Neither needs a
library of sparse matrices, whose import takes longer than all else that is done to W;
it is imported where an eigenvalue must be computed or W comes from outside.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.graphs.neighbourhood import Neighbourhood
from pmgt_mpi.graphs.spectrum import Matrix

Array = NDArray[Any]

EXACT_DIAMETER = 500_000
"""Agents times edges of a graph whose diameter is found, in a fraction of a second."""

PSD_TOLERANCE = 1e-12
"""A λ_min above minus this counts as 0."""


class GossipMatrix(NamedTuple):
    """A symmetric W: its diagonal, and its other entries in compressed rows.

    Attributes
    ----------
    own
        W_ii.
    starts, columns, weights
        Row i has W_ij = weights[k] ≠ 0 at j = columns[k] ≠ i for starts[i] ≤ k <
        starts[i + 1], in increasing order of j.
    """

    own: Array
    starts: Array
    columns: Array
    weights: Array

    @classmethod
    def of(cls, W: Matrix) -> GossipMatrix:
        """Take apart a CSR matrix without stored zeros."""
        W.sort_indices()
        rows = np.repeat(np.arange(W.shape[0]), np.diff(W.indptr))
        others = W.indices != rows
        degrees = np.bincount(rows[others], minlength=W.shape[0])
        return cls(
            own=W.diagonal(),
            starts=np.concatenate([[0], np.cumsum(degrees)]),
            columns=W.indices[others],
            weights=W.data[others],
        )

    @property
    def agents(self) -> int:
        """Number of agents, m."""
        return self.own.size

    @property
    def degrees(self) -> NDArray[np.int64]:
        """Number of neighbours of each agent."""
        return np.diff(self.starts)

    @property
    def rows(self) -> Array:
        """The row of each entry beside the diagonal."""
        return np.repeat(np.arange(self.agents), self.degrees)

    def csr(self) -> Matrix:
        """Return W as a matrix of scipy's."""
        from scipy import sparse

        shape = (self.agents, self.agents)
        beside = sparse.csr_array((self.weights, self.columns, self.starts), shape)
        return (sparse.diags_array(self.own) + beside).tocsr()

    def toarray(self) -> Array:
        """Return W as a dense array."""
        W = np.diag(self.own)
        W[self.rows, self.columns] = self.weights
        return W


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

    @property
    def largest_own_weight(self) -> float:
        """The largest W_ii."""
        return float(self.W.own.max())

    @property
    def diameter(self) -> int:
        """Edges between the two agents that are farthest from each other.

        A bound, twice what agent 0 sees, of a graph larger than `EXACT_DIAMETER`.
        """
        starts, columns = self.W.starts.tolist(), self.W.columns.tolist()
        neighbours = [columns[i:j] for i, j in pairwise(starts)]
        if self.agents * self.edges > EXACT_DIAMETER:
            return 2 * farthest(neighbours, 0)
        return max(farthest(neighbours, agent) for agent in range(self.agents))

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


def farthest(neighbours: list[list[int]], start: int) -> int:
    """Edges to the agent that is farthest from `start`."""
    edges, seen, border = -1, {start}, [start]
    while border:
        edges += 1
        border = list({j for i in border for j in neighbours[i]} - seen)
        seen.update(border)
    return edges
