"""Bounds on every coordinate."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.errors import UserError
from pmgt_mpi.options import Strength

Array = NDArray[Any]

LARGEST = 1e15
"""Size of a bound, whose square must be a number in float32 too."""


@dataclass(frozen=True, kw_only=True)
class Box:
    """Bounds: psi(x) = 0 where lower ≤ x_k ≤ upper for every k, else ∞.

    Accelerated mixing has negative coefficients, so that iterates leave the box by a
    little; within the tolerance they count as inside.

    Parameters
    ----------
    lower
        The least that a coordinate may be: at most 1e15 in size, or ``-inf``.
    upper
        The most that it may be, likewise.
    tolerance
        How far outside still counts as inside, relative to the bound, or to 1 if that
        is more.
    """

    lower: float = -math.inf
    upper: float = math.inf
    tolerance: Strength = 1e-6

    def __post_init__(self) -> None:
        both = f"[regularizer] lower = {self.lower:g}, upper = {self.upper:g}"
        if math.isnan(self.lower) or math.isnan(self.upper):
            raise UserError(f"{both}: expected numbers, or inf for no bound")
        for name, value, no_bound in (
            ("lower", self.lower, -math.inf),
            ("upper", self.upper, math.inf),
        ):
            if abs(value) > LARGEST and value != no_bound:
                raise UserError(
                    f"[regularizer] {name} = {value:g}: expected a number of at most "
                    f"{LARGEST:g} in size; leave it out for no bound"
                )
        if self.lower > self.upper:
            raise UserError(f"{both}: expected lower ≤ upper; exchange them")

    @property
    def sigma(self) -> float:
        """Strong convexity of psi: 0."""
        return 0.0

    def value(self, x: Array) -> float:
        """0 in the box and within the tolerance around it, else ∞."""
        low = self.lower - self.tolerance * max(1.0, abs(self.lower))
        high = self.upper + self.tolerance * max(1.0, abs(self.upper))
        # float(): in float32 the ends of a wide tolerance would be no numbers.
        inside = low <= float(x.min()) and float(x.max()) <= high
        return 0.0 if inside else math.inf

    def prox(self, z: Array, eta: float) -> Array:  # noqa: ARG002
        """Nearest point of the box."""
        out = np.maximum(z, self.lower)
        np.minimum(out, self.upper, out=out)
        return out

    def prox_slope(self, z: Array, eta: float) -> Array:  # noqa: ARG002
        """1 inside, 0 outside."""
        return ((self.lower < z) & (z < self.upper)).astype(z.dtype)

    def excess(self, x: Array, x_star: Array, slope: Array) -> float:
        """⟨slope, x − x*⟩ with x moved into the box; ∞ beyond the tolerance.

        Outside of the box the product could be negative: no point there is cheaper.
        """
        inside = self.prox(x, 1.0)
        return float(np.vdot(slope, inside - x_star)) + self.value(x)
