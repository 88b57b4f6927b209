"""f = (1/m) Σ_i weight_i f_i, as all agents together see it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.mpi.collective import Collective

Array = NDArray[Any]


class MeanFunction:
    """The mean of the agents' functions; every method is collective.

    Parameters
    ----------
    problem
        This agent's f_i. `hessian` and `bregman` are asked for only by their own
        methods here.
    collective
        All agents.
    weight
        m n_i / N, with which f_i enters the mean.
    """

    def __init__(self, problem: Any, collective: Collective, weight: float) -> None:
        self.problem = problem
        self.collective = collective
        self.share = weight / collective.agents

    def value(self, x: Array) -> float:
        """f(x)."""
        return self._sum_of_numbers(self.problem.value(x))

    def bregman(self, x: Array, x_star: Array) -> float:
        """f(x) − f(x*) − ⟨∇f(x*), x − x*⟩."""
        return self._sum_of_numbers(self.problem.bregman(x, x_star))

    def value_and_grad(self, x: Array) -> tuple[float, Array]:
        """f(x) and ∇f(x), in one sum."""
        local = np.empty(x.size + 1)
        local[0] = self.problem.value(x)
        local[1:] = self.problem.grad(x).ravel()
        total = self.collective.sum(self.share * local)
        return float(total[0]), total[1:].reshape(x.shape)

    def hessian(self, x: Array) -> Array:
        """∇²f(x), a matrix for x.ravel()."""
        local = np.asarray(self.problem.hessian(x), np.float64)
        return self.collective.sum(self.share * local)

    def _sum_of_numbers(self, local: float) -> float:
        return float(self.collective.sum(np.array([self.share * local]))[0])
