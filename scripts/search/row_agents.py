"""All agents at once, as an algorithm sees them: row i of every array is agent i's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.gossip.polynomials import chebyshev, coefficients
from pmgt_mpi.streams import IndexStream, stream

if TYPE_CHECKING:
    from row_lab import RowLab

Array = NDArray[Any]


class Done(NamedTuple):
    """In the place of a mix under way, one that is over."""

    result: Array

    def wait(self) -> Array:
        """Return the result."""
        return self.result


class RowAgents:
    """What an algorithm sees, for all agents at once; see `pmgt_mpi.agent.Agent`.

    Attributes
    ----------
    gradients, gradients_paper, rounds
        As the log of a run counts them, the gradients as the mean over the agents.
    """

    def __init__(self, lab: RowLab, method: str, seed: int) -> None:
        self.lab, self.n = lab, lab.n
        self.gradients = self.gradients_paper = 0.0
        self.rounds = 0
        self._W, *self._spectrum = lab.network(seed)
        purpose = f"algorithm {method}"
        self._shared = stream(seed, purpose, 0)
        self._own = [
            IndexStream(stream(seed, purpose, 1, i), part.rows)
            for i, part in enumerate(lab.parts)
        ]
        self._mixings: dict[int, Array] = {}

    def grad(self, x: Array) -> Array:
        """∇f_i(x_i)."""
        self.gradients += self.lab.mean_rows
        self.gradients_paper += self.lab.mean_rows
        gradient: Array = np.matmul(self.lab.Q, x[:, :, None])[:, :, 0] + self.lab.q
        return gradient

    def minibatch(self, b: int) -> list[Array]:
        """b rows of every agent, each from its own stream."""
        return [own.draw(b) for own in self._own]

    def grad_difference(self, w: Array, w0: Array, rows: list[Array]) -> Array:
        """Mean over the rows of ∇f_ij(w) − ∇f_ij(w0)."""
        b = len(rows[0])
        self.gradients += 2 * b
        self.gradients_paper += b
        differences = [
            part.minibatch_difference(w[i], w0[i], rows[i])
            for i, part in enumerate(self.lab.parts)
        ]
        return self.lab.weights * np.array(differences)

    def prox(self, z: Array, eta: float) -> Array:  # noqa: ARG002
        """There is no regularizer."""
        return z

    def mix(self, x: Array, M: int) -> Array:
        """M rounds of Chebyshev mixing, as one matrix."""
        self.rounds += M
        if M not in self._mixings:
            before = now = np.eye(self.lab.m)
            for c, d, e in coefficients(chebyshev, M, *self._spectrum):
                before, now = now, c * self._W @ now + d * now + e * before
            self._mixings[M] = now
        return self._mixings[M] @ x

    def gossip(self, x: Array) -> Array:
        """W x."""
        self.rounds += 1
        return self._W @ x

    def start_gossip(self, x: Array) -> Done:
        """W x, for who waits for it."""
        return Done(self.gossip(x))

    def geometric(self, p: float) -> int:
        """T ~ Geom(p) from the shared stream."""
        return int(self._shared.geometric(p)) - 1
