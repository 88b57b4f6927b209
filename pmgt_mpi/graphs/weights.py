"""Gossip matrices from a graph: W = I − (weighted Laplacian).

Each function of the registry returns W and its extreme eigenvalues apart from the 1 of
consensus: λ_min, the smallest, and λ₂, the largest.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.graphs.network import GossipMatrix
from pmgt_mpi.graphs.spectrum import Extremes, Matrix, extremes
from pmgt_mpi.graphs.topologies import Graph

Array = NDArray[Any]


class Laplacian:
    """L = D − A of a connected graph on 0 … m − 1, m ≥ 2, and its extremes.

    Parameters
    ----------
    graph
        The graph.
    known
        μ₂ and μ_max, where a closed form gives them.

    Attributes
    ----------
    degrees
        Number of neighbours of each agent.
    rows, columns
        The two ends of each edge, both ways round, in increasing order.
    """

    def __init__(self, graph: Graph, known: Extremes | None = None) -> None:
        # networkx's own conversion takes 20 times as long on a million edges.
        m = len(graph)
        self.degrees = np.fromiter((len(graph[i]) for i in range(m)), np.int64, m)
        self._starts = np.concatenate([[0], np.cumsum(self.degrees)])
        self.rows = np.repeat(np.arange(m), self.degrees)
        self.columns = np.fromiter(
            (j for i in range(m) for j in sorted(graph[i])), np.int64, self.rows.size
        )
        self._known = known

    @cached_property
    def adjacency(self) -> Matrix:
        """A, sparse."""
        return self._weighted(np.ones(self.rows.size))

    @cached_property
    def matrix(self) -> Matrix:
        """L, sparse."""
        return weighted_laplacian(self.adjacency)

    @cached_property
    def extremes(self) -> Extremes:
        """μ₂ and μ_max: smallest and largest eigenvalue but the 0 of consensus."""
        return extremes(self.matrix) if self._known is None else self._known

    def weighted_extremes(self, a: Array) -> Extremes:
        """μ₂ and μ_max of the Laplacian with a weight a_ij for each edge, both ways."""
        return extremes(weighted_laplacian(self._weighted(a)))

    def identity_minus(self, a: float | Array) -> GossipMatrix:
        """I − L_a: a_ij beside the diagonal, 1 − Σ_j a_ij on it; a number for all."""
        if isinstance(a, float):
            away: Array = a * self.degrees
            a = np.full(self.rows.size, a)
        else:
            away = np.bincount(self.rows, a)
        return GossipMatrix(1 - away, self._starts, self.columns, a)

    def _weighted(self, a: Array) -> Matrix:
        from scipy import sparse

        shape = (self.degrees.size, self.degrees.size)
        return sparse.csr_array((a, self.columns, self._starts), shape=shape)


def weighted_laplacian(A: Matrix) -> Matrix:
    """Σ_j a_ij on the diagonal, −a_ij beside it."""
    from scipy import sparse

    return (sparse.diags_array(A.sum(axis=1)) - A).tocsr()


def laplacian(L: Laplacian) -> tuple[GossipMatrix, Extremes]:
    """W = I − L / μ_max, L the graph's Laplacian: 0 ⪯ W, as the paper asks.

    λ_min = 0 and λ₂ = 1 − μ₂ / μ_max.
    """
    mu_2, mu_max = L.extremes
    return L.identity_minus(1 / mu_max), Extremes(0.0, 1 - mu_2 / mu_max)


def best_constant(L: Laplacian) -> tuple[GossipMatrix, Extremes]:
    """W = I − 2 L / (μ_max + μ₂): of all I − αL the fastest (Xiao & Boyd 2004).

    λ₂ = −λ_min = (μ_max − μ₂) / (μ_max + μ₂): W is not positive semidefinite.
    """
    mu_2, mu_max = L.extremes
    lambda_2 = (mu_max - mu_2) / (mu_max + mu_2)
    W = L.identity_minus(2 / (mu_max + mu_2))
    return W, Extremes(0.0 - lambda_2, lambda_2)


def metropolis(L: Laplacian) -> tuple[GossipMatrix, Extremes]:
    """Lazy Metropolis–Hastings: W_ij = ½ / (1 + max(d_i, d_j)) on the edges.

    W = (I + W_MH) / 2: 0 ⪯ W, W_ij ≥ 0, and an agent needs to know nothing but its
    neighbours' degrees.
    """
    largest = np.maximum(L.degrees[L.rows], L.degrees[L.columns])
    if np.all(largest == largest[0]):  # W = I − αL: regular graphs, paths, stars
        alpha = 1 / (2 * (1 + float(largest[0])))
        mu_2, mu_max = L.extremes
        return (
            L.identity_minus(alpha),
            Extremes(1 - alpha * mu_max, 1 - alpha * mu_2),
        )
    halves = 0.5 / (1 + largest)
    mu_2, mu_max = L.weighted_extremes(halves)
    return L.identity_minus(halves), Extremes(1 - mu_max, 1 - mu_2)
