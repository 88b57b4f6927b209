"""Accelerated proximal gradient, for problems too large for a Hessian."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.regularizers.base import Regularizer

Array = NDArray[Any]


def fista(
    grad: Callable[[Array], Array],
    regularizer: Regularizer,
    x: Array,
    L: float,
    *,
    iterations: int,
    target: Callable[[Array], float],
) -> Array:
    """Minimise f + psi by FISTA (Beck & Teboulle 2009) with adaptive restart.

    x⁺ = prox(y − ∇f(y)/L),  θ⁺ = (1 + √(1 + 4θ²))/2,  y⁺ = x⁺ + (θ − 1)/θ⁺ (x⁺ − x);
    where ⟨y − x⁺, x⁺ − x⟩ > 0 the momentum points uphill and θ starts again from 1
    (O'Donoghue & Candès 2015), which makes it linearly convergent without knowing σ.

    Parameters
    ----------
    grad, L
        ∇f and its Lipschitz constant.
    iterations
        How many gradients at most.
    target
        The norm of L (y − x⁺), the gradient mapping at y, below which to stop at x⁺.
    """
    y, theta = x, 1.0
    for _ in range(iterations):
        new = regularizer.prox(y - grad(y) / L, 1 / L)
        gap, step = y - new, new - x
        if np.vdot(gap, step) > 0:
            theta = 1.0
        x = new
        if L * float(np.linalg.norm(gap)) <= target(x):
            break
        larger = 0.5 * (1 + np.sqrt(1 + 4 * theta**2))
        y = x + (theta - 1) / larger * step
        theta = larger
    return x
