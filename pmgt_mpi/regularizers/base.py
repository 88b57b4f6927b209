"""What a regularizer is: a convex psi, the sum of a function of each coordinate."""

from __future__ import annotations

from typing import Any, Protocol

from numpy.typing import NDArray

Array = NDArray[Any]


class Regularizer(Protocol):
    """psi(x) = Σ_k psi_k(x_k).

    A frozen dataclass whose fields are its options. One used from a config may be a
    user's own; `value` and `prox` are needed to run, the rest for x* and F − F*.
    """

    @property
    def sigma(self) -> float:
        """Strong convexity of psi."""
        ...

    def value(self, x: Array) -> float:
        """psi(x)."""
        ...

    def prox(self, z: Array, eta: float) -> Array:
        """Minimise psi(x) + ‖x − z‖² / (2 eta) over x; z is left as it was."""
        ...

    def prox_slope(self, z: Array, eta: float) -> Array:
        """Derivative of prox at z: its diagonal, each number in [0, 1]."""
        ...

    def excess(self, x: Array, x_star: Array, slope: Array) -> float:
        """psi(x) − psi(x*) + ⟨slope, x − x*⟩, coordinate by coordinate.

        With slope = ∇f(x*) at a minimiser x* of f + psi no coordinate's part is
        negative; each is formed so that it keeps its digits when x is close to x*.
        """
        ...
