"""Least squares, with or without a ridge."""

from __future__ import annotations

from typing import ClassVar

from pmgt_mpi.data.shard import Shard
from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.options import Strength
from pmgt_mpi.problems.linear import labels_of
from pmgt_mpi.problems.quadratic import QuadraticModel


class Ridge(QuadraticModel):
    """Least squares: f_ij(x) = ½(⟨a_ij, x⟩ − y_ij)² + (l2/2)‖x‖².

    Parameters
    ----------
    l2
        Coefficient of ½‖x‖², part of f: 0 is plain least squares.
    """

    kappa: ClassVar[float] = 1.0
    curvatures: ClassVar[tuple[float, float]] = (1.0, 1.0)

    def __init__(
        self,
        shard: Shard,
        collective: Collective,  # noqa: ARG002
        *,
        l2: Strength = 0.0,
    ) -> None:
        super().__init__(shard, c=l2, y=labels_of(shard, "ridge"))
