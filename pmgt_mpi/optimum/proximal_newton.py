"""Proximal Newton: minimise f + psi through quadratic models of f."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.optimum.composite_quadratic import CompositeQuadratic
from pmgt_mpi.regularizers.base import Regularizer

Array = NDArray[Any]

STEPS = 100
"""Models at most."""

HALVINGS = 20
"""Step lengths tried along one direction."""


ROUNDING = 1e-15
"""Relative residual that a model's minimiser need not go below."""


class Point(NamedTuple):
    """A point x with F(x), ∇f(x), and the norm of the gradient mapping, relative."""

    x: Array
    objective: float
    grad: Array
    residual: float


class ProximalNewton(NamedTuple):
    """x ← x + α(u − x), u = argmin ⟨∇f(x), u − x⟩ + ½(u − x)ᵀ∇²f(x)(u − x) + psi(u).

    α is 1 where that halves the residual, or else the first of 1, ½, ¼ … that brings
    F down (Lee, Sun & Saunders 2014); a proximal gradient step is taken where none
    does. Where F is quadratic the first model is F itself, and the ones after it remove
    the rounding of its solution.

    Parameters
    ----------
    oracle
        x ↦ f(x), ∇f(x).
    hessian
        x ↦ ∇²f(x), as a matrix for x.ravel().
    regularizer, L
        psi, and the smoothness of f.
    origin
        ‖∇f(0)‖: residuals are relative to origin + L‖x‖.
    """

    oracle: Callable[[Array], tuple[float, Array]]
    hessian: Callable[[Array], Array]
    regularizer: Regularizer
    L: float
    origin: float

    def minimise(self, x: Array) -> Array:
        """Go from x to where no step helps any more."""
        best = point = self.at(x)
        for _ in range(STEPS):
            new = self.step(point, best.residual) if best.residual else None
            if new is None:
                break
            point = new
            if point.residual < best.residual:
                best = point
        return best.x

    def at(self, x: Array) -> Point:
        """Evaluate F and its gradient mapping L (x − prox(x − ∇f(x)/L))."""
        f, g = self.oracle(x)
        p = self.regularizer.prox(x - g / self.L, 1 / self.L)
        mapping = self.L * float(np.linalg.norm(x - p))
        scale = self.origin + self.L * float(np.linalg.norm(x))
        residual = mapping / scale if mapping else 0.0
        return Point(x, f + self.regularizer.value(x), g, residual)

    def step(self, point: Point, best: float) -> Point | None:
        """Minimise one model; None where the way to its minimiser does not help."""
        x, g = point.x, point.grad
        model = CompositeQuadratic(
            self.hessian(x), g.ravel(), x.ravel(), self.regularizer, self.L
        )
        scale = self.origin + self.L * float(np.linalg.norm(x))
        tolerance = max(1e-4 * point.residual, ROUNDING) * scale
        u = model.minimise(tolerance).reshape(x.shape)
        predicted = float(np.vdot(g, u - x)) + self.regularizer.value(u)
        predicted -= self.regularizer.value(x)
        rounding = 1e-14 * (abs(point.objective) + self.L * float(np.vdot(x, x)))
        for halving in range(HALVINGS):
            length = 0.5**halving
            new = self.at(u if halving == 0 else x + length * (u - x))
            decrease = point.objective - new.objective
            if decrease > max(rounding, -1e-4 * length * predicted):
                return new
            if new.residual <= 0.5 * best and decrease >= -rounding:
                return new
            if -predicted * length <= rounding:
                return None  # F cannot tell any more, and the residual is not halved
        # Far out, where f is almost flat, the model's minimiser may be anywhere.
        new = self.at(self.regularizer.prox(x - g / self.L, 1 / self.L))
        return new if new.objective < point.objective - rounding else None
