"""The l1 norm."""

from __future__ import annotations

from dataclasses import dataclass

from pmgt_mpi.options import Strength
from pmgt_mpi.regularizers.shrinkage import Shrinkage


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
