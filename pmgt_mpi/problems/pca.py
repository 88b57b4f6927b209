"""Shift-and-invert PCA, the paper's problem."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.data.shard import Shard
from pmgt_mpi.errors import UserError
from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.options import PositiveStrength, Within
from pmgt_mpi.problems.quadratic import QuadraticModel

Array = NDArray[Any]

SMALLEST_GAP = 1e-12
"""(λ_1 − λ_2) / λ_1 below which the two eigenvalues count as equal."""


class ShiftInvertPCA(QuadraticModel):
    """The paper's shift-and-invert PCA: nonconvex terms whose mean is convex.

    f_ij(x) = ½ xᵀ(c I − a_ij a_ijᵀ)x + ⟨b, x⟩,  c = λ_1 + (λ_1 − λ_2)/r,

    with λ_1, λ_2 the largest eigenvalues of A = mean of a aᵀ over all rows of all
    agents, not centred (Liu & Low, AAAI-24, section Experiments). σ = (λ_1 − λ_2)/r.
    The minimiser is x* = −(c I − A)⁻¹ b. The paper leaves b open: here it is a
    Gaussian direction of unit norm, the same on all agents, so that with probability
    1 it is not orthogonal to the leading eigenvector.

    Parameters
    ----------
    ratio
        r, how many times smaller than the eigengap the strong convexity is.
    b_seed
        Seed of the direction b.
    """

    kappa: ClassVar[float] = -1.0
    curvatures: ClassVar[tuple[float, float]] = (-1.0, -1.0)

    def __init__(
        self,
        shard: Shard,
        collective: Collective,
        *,
        ratio: PositiveStrength = 2.0,
        b_seed: Annotated[int, Within(ge=0)] = 0,
    ) -> None:
        d = shard.columns
        if d < 2:
            raise UserError(
                "problem 'shift-invert-pca' needs two eigenvalues, and the data have "
                f"{d} column; use data of at least 2 columns"
            )
        b = np.random.default_rng(b_seed).standard_normal(d)
        b /= np.linalg.norm(b)
        super().__init__(shard, c=0.0, b=collective.from_first(b))
        top = self.spectrum(collective)
        gap = top.largest - top.second
        if gap <= SMALLEST_GAP * top.largest:
            raise UserError(
                "problem 'shift-invert-pca' needs an eigengap, and the two largest "
                f"eigenvalues of the mean of a aᵀ are equal ({top.largest:.6g} and "
                f"{top.second:.6g}); use other data, or another [data] scale"
            )
        rounding = d * float(np.finfo(float).eps) * top.largest
        if gap / ratio <= rounding:
            raise UserError(
                f"[problem] ratio = {ratio:g}: the strong convexity (λ_1 − λ_2)/ratio ="
                f" {gap / ratio:.3g} is lost in the rounding of λ_1 = "
                f"{top.largest:.3g}; expected less than {gap / rounding:.2g}"
            )
        self.c = top.largest + gap / ratio

    @property
    def floor(self) -> None:
        """None: c is made of λ_1 and λ_2, and λ_d is taken from it."""
        return
