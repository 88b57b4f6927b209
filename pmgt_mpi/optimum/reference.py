"""The reference minimiser x* of F = f + psi, and how far from optimal a point is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.mpi.leader import led_by_first
from pmgt_mpi.problems.base import Constants, Problem
from pmgt_mpi.regularizers.base import Regularizer

Array = NDArray[Any]

DENSE_LIMIT = 2048
"""Largest d for which there are Hessians, d × d."""

SOLVER_VERSION = 1
"""Part of the key of cached minimisers: raise it when the solver changes."""

FISTA_ITERATIONS = 20_000
FISTA_TOLERANCE = 1e-13
"""Relative residual aimed at where d is too large for Newton's method."""


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


class Reference(NamedTuple):
    """A minimiser, and how good it is.

    Attributes
    ----------
    x
        x*, float64.
    objective
        F(x*).
    grad
        ∇f(x*), the mean over the agents; −∇f(x*) is a subgradient of psi at x*.
    residual
        L‖x − prox(x − ∇f(x)/L)‖ relative to ‖∇f(0)‖ + L‖x‖: about 1e-15 is rounding.
    """

    x: Array
    objective: float
    grad: Array
    residual: float


def minimise(
    problem: Problem,
    regularizer: Regularizer,
    collective: Collective,
    weight: float,
    constants: Constants | None,
) -> Reference | None:
    """Find x* to near machine precision; None without constants or a Hessian.

    Up to d = 2048 by a semismooth Newton method: one step for a quadratic without psi
    and one that removes its rounding. Beyond by FISTA, to a relative residual of
    1e-13 or for 20,000 gradients; what was reached is reported.

    Parameters
    ----------
    problem, regularizer
        f_i of this agent, and psi.
    collective
        All agents; every one of them must make this call.
    weight
        m n_i / N, with which f_i enters the mean.
    constants
        Those of the problem.
    """
    if constants is None or not hasattr(problem, "hessian"):
        return None
    f = MeanFunction(problem, collective, weight)
    L = constants.L or 1.0  # f may be constant
    unchanging = getattr(problem, "quadratic", False)

    def together(what: str, x: Array) -> Any:
        return f.hessian(x) if what == "hessian" else f.value_and_grad(x)

    def solve(ask: Callable[..., Any]) -> Array:
        # Only agent 0 comes here, and imports the solvers.
        from pmgt_mpi.optimum.fista import fista
        from pmgt_mpi.optimum.proximal_newton import ProximalNewton

        zero = np.zeros(problem.shape)
        start = np.array(regularizer.prox(zero, 1 / L))
        origin = float(np.linalg.norm(ask("gradient", zero)[1]))
        if zero.size > DENSE_LIMIT:
            return fista(
                lambda x: ask("gradient", x)[1],
                regularizer,
                start,
                L,
                iterations=FISTA_ITERATIONS,
                target=lambda x: (
                    FISTA_TOLERANCE * (origin + L * float(np.linalg.norm(x)))
                ),
            )
        H = ask("hessian", zero) if unchanging else None
        return ProximalNewton(
            oracle=lambda x: ask("gradient", x),
            hessian=lambda x: ask("hessian", x) if H is None else H,
            regularizer=regularizer,
            L=L,
            origin=origin,
        ).minimise(start)

    x = led_by_first(collective, together, solve)
    return certify(x, f, regularizer, constants)


def certify(
    x: Array, f: MeanFunction, regularizer: Regularizer, constants: Constants
) -> Reference:
    """Measure how good a minimiser is; collective."""
    L = constants.L or 1.0
    origin = float(np.linalg.norm(f.value_and_grad(np.zeros_like(x))[1]))
    value, g = f.value_and_grad(x)
    mapping = L * float(np.linalg.norm(x - regularizer.prox(x - g / L, 1 / L)))
    scale = origin + L * float(np.linalg.norm(x))
    reference = Reference(
        x, value + regularizer.value(x), g, mapping / scale if mapping else 0.0
    )
    return f.collective.from_first(reference)  # type: ignore[no-any-return]


def suboptimality(
    problem: Problem,
    regularizer: Regularizer,
    collective: Collective,
    weight: float,
    reference: Reference,
    x: Array,
) -> float:
    """F(x) − F(x*); collective.

    The plain difference stops at 1e-16 |F|. So it is added up from

    [f(x) − f(x*) − ⟨∇f(x*), x − x*⟩] + [psi(x) − psi(x*) + ⟨∇f(x*), x − x*⟩],

    two parts that are never negative and of which each is formed without
    cancellation; only where a problem has no `bregman` is it the plain difference.

    Parameters
    ----------
    problem, regularizer
        f_i of this agent, and psi.
    collective
        All agents; every one of them must make this call, with the same x.
    weight
        m n_i / N, with which f_i enters the mean.
    reference
        x*.
    x
        The point, float64 for all digits.
    """
    f = MeanFunction(problem, collective, weight)
    if not hasattr(problem, "bregman"):
        return f.value(x) + regularizer.value(x) - reference.objective
    smooth = f.bregman(x, reference.x)
    return smooth + regularizer.excess(x, reference.x, reference.grad)
