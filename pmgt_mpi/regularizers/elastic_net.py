"""The elastic net."""

from __future__ import annotations

from dataclasses import dataclass

from pmgt_mpi.options import Strength
from pmgt_mpi.regularizers.shrinkage import Shrinkage


@dataclass(frozen=True, kw_only=True)
class ElasticNet(Shrinkage):
    """The elastic net: psi(x) = l1 ‖x‖₁ + (l2/2) ‖x‖².

    Parameters
    ----------
    l1, l2
        Strength of the two parts.
    """

    l1: Strength
    l2: Strength

    def strengths(self) -> tuple[float, float]:
        """The two fields."""
        return self.l1, self.l2
