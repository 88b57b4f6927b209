"""What l1, l2 and the elastic net share: psi = l1 ‖x‖₁ + (l2/2) ‖x‖²."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class Shrinkage(ABC):
    """psi(x) = l1 ‖x‖₁ + (l2/2) ‖x‖², either number possibly 0."""

    @abstractmethod
    def strengths(self) -> tuple[float, float]:
        """l1 and l2."""

    @property
    def sigma(self) -> float:
        """Strong convexity of psi: l2."""
        return self.strengths()[1]

    def value(self, x: Array) -> float:
        """l1 ‖x‖₁ + (l2/2) ‖x‖²."""
        l1, l2 = self.strengths()
        return float(l1 * np.abs(x).sum() + 0.5 * l2 * np.vdot(x, x))

    def prox(self, z: Array, eta: float) -> Array:
        """sign(z) max(|z| − eta l1, 0) / (1 + eta l2), a new array."""
        l1, l2 = self.strengths()
        # float(): a numpy scalar would turn a float32 iterate into float64.
        shrink = float(1 / (1 + eta * l2))
        if l1 == 0.0:
            return z * shrink
        threshold = float(eta * l1)
        out = np.maximum(z, -threshold)
        np.minimum(out, threshold, out=out)
        np.subtract(z, out, out=out)  # z − (z cut to ± threshold): an exact 0 within
        if l2 != 0.0:
            out *= shrink
        return out

    def prox_slope(self, z: Array, eta: float) -> Array:
        """1 / (1 + eta l2) where |z| > eta l1, else 0."""
        l1, l2 = self.strengths()
        slope = float(1 / (1 + eta * l2))
        if l1 == 0.0:
            return np.full_like(z, slope)
        return (np.abs(z) > eta * l1) * slope

    def excess(self, x: Array, x_star: Array, slope: Array) -> float:
        """psi(x) − psi(x*) + ⟨slope, x − x*⟩, coordinate by coordinate.

        With s = sign(x*): |x| − |x*| = s (x − x*) + (|x| − s x), and the last bracket
        is 0 where x kept its sign; there l1 s + l2 x* + slope is 0 up to rounding.
        """
        l1, l2 = self.strengths()
        d, s = x - x_star, np.sign(x_star)
        parts = (l1 * s + l2 * x_star + slope) * d
        parts += l1 * (np.abs(x) - s * x)
        parts += 0.5 * l2 * d**2
        return float(parts.sum())
