"""The gossip matrix W, row by row: what an agent keeps, and what its neighbours have.

Agent 0 builds W and cuts it into rows, and all others wait for it. Neither needs a
library of sparse matrices, whose import takes longer than all else that is done to W;
it is imported where an eigenvalue must be computed or W comes from outside.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.graphs.spectrum import Matrix

Array = NDArray[Any]


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
