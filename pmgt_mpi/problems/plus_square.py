"""f_i + (ε/2)‖x‖²: what makes a convex f strongly convex."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.problems.base import Constants, Problem

Array = NDArray[Any]

OPTIONAL = ("minibatch_difference", "constants", "hessian", "bregman")
"""Methods that the sum has where f_i has them."""


def plus_square(problem: Problem, epsilon: float) -> Problem:
    """Return f_i + (ε/2)‖x‖²: by the problem's own method, or else by a wrapper."""
    if hasattr(problem, "plus_square"):
        own: Problem = problem.plus_square(epsilon)
        return own
    return PlusSquare(problem, epsilon)


class PlusSquare:
    """f_i(x) + (ε/2)‖x‖², for a problem that knows nothing of it.

    The term is part of every f_ij. With the weights m n_i / N of unequal shards its
    mean over the agents is still (ε/2)‖x‖².

    Parameters
    ----------
    problem
        f_i.
    epsilon
        ε.
    """

    def __init__(self, problem: Problem, epsilon: float) -> None:
        self.problem: Any = problem
        self.epsilon = epsilon
        self.shape = problem.shape
        self.rows = problem.rows
        self.quadratic = bool(getattr(problem, "quadratic", False))
        for name in OPTIONAL:
            if hasattr(problem, name):
                setattr(self, name, getattr(self, f"_{name}"))

    def value(self, x: Array) -> float:
        """f_i(x) + (ε/2)‖x‖²."""
        return float(self.problem.value(x)) + 0.5 * self.epsilon * float(np.vdot(x, x))

    def grad(self, x: Array) -> Array:
        """∇f_i(x) + εx, a new array."""
        return self._sum(self.problem.grad(x), x)

    def minibatch_grad(self, x: Array, rows: Array) -> Array:
        """(1/b) Σ_{j ∈ rows} ∇f_ij(x) + εx."""
        return self._sum(self.problem.minibatch_grad(x, rows), x)

    def _minibatch_difference(self, w: Array, w0: Array, rows: Array) -> Array:
        return self._sum(self.problem.minibatch_difference(w, w0, rows), w - w0)

    def _hessian(self, x: Array) -> Array:
        H = np.array(self.problem.hessian(x), np.float64)
        H.flat[:: len(H) + 1] += self.epsilon
        return H

    def _bregman(self, x: Array, x_star: Array) -> float:
        d = x - x_star
        own = float(self.problem.bregman(x, x_star))
        return own + 0.5 * self.epsilon * float(np.vdot(d, d))

    def _constants(self, collective: Collective) -> Constants:
        """Bounds, and exact where the shards are equal."""
        c: Constants = self.problem.constants(collective)
        rows = collective.gather(self.rows)
        low, high = (
            len(rows) * self.epsilon * n / sum(rows) for n in (min(rows), max(rows))
        )
        l1 = c.l1 + high
        return c._replace(
            L=c.L + self.epsilon,
            l1=l1,
            l2=max(l1, c.l2 - low),
            sigma=c.sigma + self.epsilon,
            L_local=c.L_local + high,
            mu_local=c.mu_local + low,
            gamma=None,  # of the Hessian without the term
        )

    def _sum(self, gradient: Array, x: Array) -> Array:
        total: Array = gradient + self.epsilon * x
        return total
