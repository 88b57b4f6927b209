"""No regularizer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True, kw_only=True)
class NoRegularizer:
    """No regularizer: psi = 0."""

    @property
    def sigma(self) -> float:
        """Strong convexity of psi: 0."""
        return 0.0

    def value(self, x: Array) -> float:  # noqa: ARG002
        """0."""
        return 0.0

    def prox(self, z: Array, eta: float) -> Array:  # noqa: ARG002
        """Return z itself, not a copy."""
        return z

    def prox_slope(self, z: Array, eta: float) -> Array:  # noqa: ARG002
        """1 everywhere."""
        return np.ones_like(z)

    def excess(self, x: Array, x_star: Array, slope: Array) -> float:
        """⟨slope, x − x*⟩."""
        return float(np.vdot(slope, x - x_star))
