"""The Laplacian of a graph, and its extreme eigenvalues."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy import sparse

from pmgt_mpi.graphs.links import Graph
from pmgt_mpi.graphs.spectrum import Extremes, Matrix, extremes


class Laplacian:
    """L = D − A of a connected graph on 0 … m − 1, m ≥ 2, and its extremes.

    Parameters
    ----------
    graph
        The graph.
    known
        μ₂ and μ_max, where a closed form gives them.
    """

    def __init__(self, graph: Graph, known: Extremes | None = None) -> None:
        # networkx's own conversion takes 20 times as long on a million edges.
        m = len(graph)
        degrees = np.fromiter((len(graph[i]) for i in range(m)), np.int64, m)
        ends = np.concatenate([[0], np.cumsum(degrees)])
        columns = np.fromiter(
            (j for i in range(m) for j in graph[i]), np.int64, ends[-1]
        )
        self.degrees = degrees
        self.adjacency: Matrix = sparse.csr_array(
            (np.ones(columns.size), columns, ends), shape=(m, m)
        )
        self.matrix = weighted_laplacian(self.adjacency)
        self._known = known

    @cached_property
    def extremes(self) -> Extremes:
        """μ₂ and μ_max: smallest and largest eigenvalue but the 0 of consensus."""
        return extremes(self.matrix) if self._known is None else self._known


def weighted_laplacian(A: Matrix) -> Matrix:
    """Σ_j a_ij on the diagonal, −a_ij beside it."""
    return (sparse.diags_array(A.sum(axis=1)) - A).tocsr()


def identity_minus(M: Matrix) -> Matrix:
    """I − M."""
    return (sparse.diags_array(np.ones(M.shape[0])) - M).tocsr()
