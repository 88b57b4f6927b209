"""The l1 norm, the squared norm, and the elastic net: psi = l1 ‖x‖₁ + (l2/2) ‖x‖²."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.options import Strength

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


@dataclass(frozen=True, kw_only=True)
class L1(Shrinkage):
    """The l1 norm: psi(x) = strength ‖x‖₁.

    Parameters
    ----------
    strength
        Factor of the norm.
    """

    strength: Strength

    def strengths(self) -> tuple[float, float]:
        """l1 = strength, l2 = 0."""
        return self.strength, 0.0


@dataclass(frozen=True, kw_only=True)
class L2(Shrinkage):
    """The squared Euclidean norm: psi(x) = (strength/2) ‖x‖².

    Parameters
    ----------
    strength
        Factor of half the squared norm.
    """

    strength: Strength

    def strengths(self) -> tuple[float, float]:
        """l1 = 0, l2 = strength."""
        return 0.0, self.strength


@dataclass(frozen=True, kw_only=True)
class ElasticNet(Shrinkage):
    """The elastic net: psi(x) = l1 ‖x‖₁ + (l2/2) ‖x‖².

    Parameters
    ----------
    l1
        Factor of the norm.
    l2
        Factor of half the squared norm.
    """

    l1: Strength
    l2: Strength

    def strengths(self) -> tuple[float, float]:
        """The two fields."""
        return self.l1, self.l2
