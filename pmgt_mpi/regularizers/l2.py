"""The squared Euclidean norm."""

from __future__ import annotations

from dataclasses import dataclass

from pmgt_mpi.options import Strength
from pmgt_mpi.regularizers.shrinkage import Shrinkage


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
