"""All agents at once, as an algorithm sees them: row i of every array is agent i's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from bernoulli_table import Array

from pmgt_mpi.gossip.polynomials import chebyshev, coefficients
from pmgt_mpi.streams import IndexStream, stream

if TYPE_CHECKING:
    from lab_one_process import OneProcess


class RowAgents:
    """What an algorithm sees, for all agents at once; see `pmgt_mpi.agent.Agent`."""

    def __init__(self, lab: OneProcess, label: str, seed: int) -> None:
        self.lab, self.n, self.gradients, self.rounds = lab, lab.n, 0, 0
        purpose = f"algorithm {label}"
        self._shared = stream(seed, purpose, 0)
        self._own = [
            IndexStream(stream(seed, purpose, 1, i), lab.n) for i in range(lab.m)
        ]
        self._first = lab.n * np.arange(lab.m)[:, None]
        self._mixings: dict[int, Array] = {}

    def grad(self, x: Array) -> Array:
        """∇f_i(x_i)."""
        self.gradients += self.n
        gradient: Array = np.matmul(self.lab.Q, x[:, :, None])[:, :, 0] + self.lab.b
        return gradient

    def minibatch(self, b: int) -> Array:
        """b rows of every agent, each from its own stream."""
        return np.stack([own.draw(b) for own in self._own]) + self._first

    def grad_difference(self, w: Array, w0: Array, rows: Array) -> Array:
        """Mean over the rows of ∇f_ij(w) − ∇f_ij(w0)."""
        b, delta = rows.shape[1], w - w0
        self.gradients += 2 * b
        batch = self.lab.A.take(rows, 0)
        z = np.matmul(batch, delta[:, :, None]).transpose(0, 2, 1)
        difference: Array = self.lab.c * delta - np.matmul(z, batch)[:, 0] / b
        return difference

    def prox(self, z: Array, eta: float) -> Array:  # noqa: ARG002
        """There is no regularizer."""
        return z

    def mix(self, x: Array, M: int) -> Array:
        """M rounds of Chebyshev mixing, as one matrix."""
        self.rounds += M
        if M not in self._mixings:
            before = now = np.eye(self.lab.m)
            for c, d, e in coefficients(chebyshev, M, *self.lab.spectrum):
                before, now = now, c * self.lab.W @ now + d * now + e * before
            self._mixings[M] = now
        return self._mixings[M] @ x

    def gossip(self, x: Array) -> Array:
        """W x."""
        self.rounds += 1
        return self.lab.W @ x

    def geometric(self, p: float) -> int:
        """T ~ Geom(p) from the shared stream."""
        return int(self._shared.geometric(p)) - 1
