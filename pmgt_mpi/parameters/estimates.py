"""Constants of a problem that gives none: estimates, from differences of gradients.

A product with a Hessian is (∇f(x + u) − ∇f(x − u))/2 for a short u. So L, σ and how
much rows and agents differ come from Lanczos' method, as they do where a problem knows
its Hessians, at two points: the start, and where some gradient steps lead from there.
What rows do is seen on some rows of every agent. Elsewhere f may be steeper, and σ
smaller: no theorem is applied to estimates.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.config.schema import Config
from pmgt_mpi.constants import Constants
from pmgt_mpi.mpi.collective import AgreedError, Collective
from pmgt_mpi.mpi.leader import led_by_first
from pmgt_mpi.optimum.reference import MeanFunction
from pmgt_mpi.problems.base import Problem
from pmgt_mpi.problems.dissimilarity import Dissimilarity, of_products
from pmgt_mpi.problems.lanczos import Ends, lanczos, start
from pmgt_mpi.regularizers.base import Regularizer
from pmgt_mpi.streams import stream

Array = NDArray[Any]

SAMPLE = 128
"""Rows of each agent that are looked at one by one."""

MOST_NUMBERS = 1 << 24
"""In the gradients of these rows, which are kept."""

STEPS, TRIALS = 20, 60
"""Gradient steps from the start to the second point, and points tried for them."""

LENGTH = 1e-3
"""Of u, in distances between the two points."""

PRODUCTS, OWN_PRODUCTS = 60, 20
"""With the Hessian of f, and with that of an agent's f_i, at one point."""

POWER_STEPS = 4
"""For the largest |curvature| of each row."""


class Found(NamedTuple):
    """What is found at one point: the ends of the spectra of f and f_i, and the rest.

    Attributes
    ----------
    whole, own
        Of f, and of this agent's f_i.
    rows
        Largest |curvature| of this agent's rows that were looked at.
    differ
        How rows and agents differ.
    """

    whole: Ends
    own: Ends
    rows: float
    differ: Dissimilarity


class DifferenceHessians:
    """Products with the Hessians of an agent's components at a point x.

    Parameters
    ----------
    problem, weight
        f_i, and m n_i / N.
    x, length
        The point, and ‖u‖.
    rows
        Those of which the variance is.
    """

    def __init__(
        self, problem: Problem, weight: float, x: Array, length: float, rows: Array
    ) -> None:
        self.columns = x.size
        self._problem, self._weight = problem, weight
        self._x, self._length = x, length
        self._all = rows
        self._rows = [rows[k : k + 1] for k in range(rows.size)]
        self._at_x = [problem.minibatch_grad(x, row) for row in self._rows]

    def mean(self, v: Array) -> Array:
        """H_i v, the weight in it."""
        return self._weight * self._central(self._problem.grad, v)

    def variance(self, v: Array) -> Array:
        """V_i v = (E_j[H_ij²] − (E_j H_ij)²) v over some rows j, the weight in it."""
        once = [self._of_row(k, v) for k in range(len(self._rows))]
        twice = np.mean([self._of_row(k, u) for k, u in enumerate(once)], axis=0)

        def of_some(x: Array) -> Array:
            return self._problem.minibatch_grad(x, self._all)

        square = self._central(of_some, np.mean(once, axis=0))
        variance: Array = self._weight**2 * (twice - square)
        return variance

    def steepest(self) -> float:
        """The largest |curvature| of the rows, by the power method for each."""
        found, v = 0.0, start(self.columns)
        for k in range(len(self._rows)):
            u = v / np.linalg.norm(v)
            for _ in range(POWER_STEPS):
                u = self._of_row(k, u)
                curvature = float(np.linalg.norm(u))
                if curvature == 0.0:
                    break
                u /= curvature
            found = max(found, curvature)
        return self._weight * found

    def _of_row(self, k: int, v: Array) -> Array:
        """H_ij v of one row."""
        norm = float(np.linalg.norm(v))
        if norm == 0.0:
            return np.zeros_like(v)
        there = self._x + self._step(v, norm)
        gradient = self._problem.minibatch_grad(there, self._rows[k])
        return self._slope(gradient - self._at_x[k], norm / self._length)

    def _central(self, gradient: Callable[[Array], Array], v: Array) -> Array:
        """(∇(x + u) − ∇(x − u))/2 for a u along v, times ‖v‖/‖u‖."""
        norm = float(np.linalg.norm(v))
        if norm == 0.0:
            return np.zeros_like(v)
        u = self._step(v, norm)
        difference = gradient(self._x + u) - gradient(self._x - u)
        return self._slope(difference, norm / (2 * self._length))

    def _step(self, v: Array, norm: float) -> Array:
        u: Array = (v * (self._length / norm)).reshape(self._x.shape)
        return u.astype(self._x.dtype)

    def _slope(self, difference: Array, factor: float) -> Array:
        slope: Array = factor * np.asarray(difference, np.float64).ravel()
        return slope


def estimated_constants(
    problem: Problem,
    regularizer: Regularizer,
    collective: Collective,
    weight: float,
    x0: Array,
    seed: int,
) -> Constants:
    """Estimate the constants of f; collective.

    Parameters
    ----------
    problem, regularizer, weight
        f_i, psi, and m n_i / N.
    x0, seed
        Where algorithms start, and what chooses the rows.
    """
    f = MeanFunction(problem, collective, weight)
    end, steepest = led_by_first(
        collective,
        lambda x: _joined(*f.value_and_grad(x)),
        lambda ask: descend(ask, regularizer, x0),
    )
    if not np.isfinite(steepest):  # which all agents know
        raise AgreedError(
            "the problem gives no constants, and they cannot be estimated: f or its "
            "gradient is not finite at the start; take another x0, give parameters as "
            "numbers, or add constants() to the problem"
        )
    end = end.astype(x0.dtype)
    distance = float(np.linalg.norm(end - x0)) or max(1.0, float(np.linalg.norm(x0)))
    most = max(2, min(SAMPLE, MOST_NUMBERS // x0.size))
    rows = stream(seed, "estimates", collective.agent).permutation(problem.rows)[:most]
    points = [x0] if np.array_equal(x0, end) else [x0, end]
    found = [
        at_point(
            DifferenceHessians(problem, weight, x, LENGTH * distance, rows), collective
        )
        for x in points
    ]
    own = [(-at.own.low, at.own.high, at.rows) for at in found]
    sag, high, l1 = map(float, collective.max(np.max(own, axis=0)))
    whole = (at.whole for at in found)
    ends = [(to.high + to.high_error, to.low_error - to.low) for to in whole]
    L = max(steepest, float(np.max(ends)))
    l1 = max(l1, L)
    return Constants(
        L=L,
        l1=l1,
        l2=l1,
        sigma=max(min(likely_low(at.whole) for at in found), 0.0),
        L_local=max(L, high, sag),
        mu_local=-sag,
        nu=max(at.differ.nu for at in found),
        nu_local=max(at.differ.nu_local for at in found),
        zeta=max(at.differ.zeta for at in found),
        estimated=True,
    )


def asks_for_constants(config: Config) -> bool:
    """Whether a parameter of a method is the word ``auto``."""
    methods = (section.method for section in config.algorithm)
    return any(
        str(value) == "auto"
        for method in methods
        for value in getattr(method, "__dict__", {}).values()
    )


def at_point(hessians: DifferenceHessians, collective: Collective) -> Found:
    """Estimate at one point; collective."""
    d, m = hessians.columns, collective.agents

    def good(ends: Ends) -> bool:
        return ends.high_error <= 0.01 * ends.high and ends.low_error <= 0.02 * ends.low

    whole = led_by_first(
        collective,
        lambda v: collective.sum(hessians.mean(v)) / m,
        lambda ask: lanczos(ask, d, good, PRODUCTS, least=OWN_PRODUCTS),
    )
    own = lanczos(hessians.mean, d, good, OWN_PRODUCTS)
    differ = of_products(hessians, collective, convex=False)
    return Found(whole, own, hessians.steepest(), differ)


def likely_low(ends: Ends) -> float:
    """λ_min, by its error less; half of the Ritz value where that says too little."""
    return max(ends.low - ends.low_error, 0.5 * ends.low)


def descend(
    ask: Callable[[Array], Array], regularizer: Regularizer, x0: Array
) -> tuple[Array, float]:
    """Take proximal gradient steps; return where they end and the largest curvature.

    With 1/L as the step, which is halved until f lies below its quadratic model, and a
    little longer after each that was good.

    Parameters
    ----------
    ask
        Returns f(x) and ∇f(x), in one vector. Where they are not finite at the start
        the curvature is infinite.
    """
    x = x0.astype(np.float64)
    value, g = _parts(ask(x), x)
    if not (np.isfinite(value) and np.isfinite(g).all()):
        return x, np.inf
    norm = float(np.linalg.norm(g))
    if norm == 0.0:
        return x, 0.0
    near = LENGTH * max(1.0, float(np.linalg.norm(x)))
    beside = _parts(ask(x - near / norm * g), x)[1]
    L = float(np.linalg.norm(beside - g)) / near or norm
    steepest, steps = 0.0, 0
    for _ in range(TRIALS):
        there = regularizer.prox(x - g / L, 1 / L)
        d = there - x
        length = float(np.linalg.norm(d))
        if length == 0.0 or steps == STEPS:
            break
        new, g_new = _parts(ask(there), x)
        model = value + float(np.vdot(g, d)) + 0.5 * L * length**2
        finite = np.isfinite(new) and np.isfinite(g_new).all()
        if not finite or new > model + 1e-12 * abs(value):
            L *= 2
            continue
        steepest = max(steepest, float(np.linalg.norm(g_new - g)) / length)
        x, value, g = there, new, g_new
        L, steps = 0.8 * L, steps + 1
    return x, steepest


def _joined(value: float, gradient: Array) -> Array:
    return np.append(value, gradient)


def _parts(both: Array, x: Array) -> tuple[float, Array]:
    return float(both[0]), both[1:].reshape(x.shape)
