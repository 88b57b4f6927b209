"""Principal components, as a problem: the subspace that captures most variance."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.data.shard import Shard
from pmgt_mpi.errors import UserError
from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.options import Count
from pmgt_mpi.problems.covariance import Covariance, column_sums
from pmgt_mpi.problems.shifted import ShiftedCovariance

Array = NDArray[Any]


class PrincipalComponents:
    """Principal components: the k-dimensional subspace that captures most variance.

    f_i(V) = −tr((VᵀV)⁻¹ VᵀC_iV) over V of d × k, C_i the covariance of the agent's
    rows about the mean of all. The minimum of f is −(λ_1 + … + λ_k), at every basis of
    the span of the k leading eigenvectors of C = mean of C_i. It is found by methods
    for eigenvectors, which take products C_i V; F is there to be looked at.

    Parameters
    ----------
    components
        k.
    centre
        Whether the mean of all rows is taken off; without it C is the mean of a aᵀ.
    """

    def __init__(
        self,
        shard: Shard,
        collective: Collective,
        *,
        components: Count = 1,
        centre: bool = True,
    ) -> None:
        most = min(shard.columns, shard.total_rows)
        if components > most:
            raise UserError(
                f"[problem] components = {components}: there are {most} at most, as "
                f"the data have {shard.total_rows} rows of {shard.columns} columns"
            )
        self.shape = (shard.columns, components)
        self.rows = shard.rows
        share = shard.weight / collective.agents
        mean = None
        if centre:
            mean = collective.sum(column_sums(shard.A)) / shard.total_rows
        self.covariance = Covariance(shard.A, mean)
        self.total = float(collective.sum(share * self.covariance.trace()))
        draw = np.random.default_rng(0).standard_normal(self.shape)
        self.start: Array = collective.from_first(np.linalg.qr(draw)[0])

    def product(self, V: Array) -> Array:
        """C_i V, a new array."""
        return self.covariance.product(V)

    def gram(self) -> Array:
        """C_i, d × d, not to be changed."""
        return self.covariance.gram()

    def trace(self) -> float:
        """tr C_i, the mean of ‖a − ā‖²."""
        return self.covariance.trace()

    def shifted(self, c: float, w: Array, V: Array) -> ShiftedCovariance:
        """Return ½⟨z, (c I − PC_iP)z⟩ − ⟨w, z⟩ with P = I − VVᵀ."""
        return ShiftedCovariance(self.covariance, c, w, V)

    def value(self, V: Array) -> float:
        """f_i(V): minus the variance that the span of V captures."""
        Q = basis(V)
        return -float(np.vdot(Q, self.product(Q)))

    def grad(self, V: Array) -> Array:
        """∇f_i(V) = −2 (I − P) C_i V (VᵀV)⁻¹, P the projector on the span of V."""
        return gradient(self.covariance, V)

    def minibatch_grad(self, V: Array, rows: Array) -> Array:
        """The mean of ∇f_ij(V) over some rows."""
        whole = self.covariance
        return gradient(Covariance(whole.A[rows], whole.centre), V)

    def bregman(self, V: Array, V_star: Array) -> float:
        """f_i(V) − f_i(V*) without what adds up to zero over the agents.

        With Q a basis of V, B = V*ᵀQ and E = Q − V*B, which is orthogonal to V*, the
        mixed terms BᵀV*ᵀCE vanish, as V* spans an eigenspace of C. What is left,
        tr(V*ᵀC_iV* (I − BBᵀ)) − tr(EᵀC_iE), is small where E is.
        """
        Q = basis(V)
        lost = angles(Q, V_star)[1]
        E = Q - V_star @ (V_star.T @ Q)
        inside = V_star.T @ self.product(V_star)
        return float(np.vdot(inside, lost) - np.vdot(E, self.product(E)))

    def figures(self, V: Array, value: float, V_star: Array | None) -> dict[str, Any]:
        """Return what a record tells beside F: the same on every agent."""
        angle = None
        if V_star is not None:
            angle = float(angles(basis(V), V_star)[0].max())
        captured = -value / self.total if self.total > 0 else None
        return {"captured_variance": captured, "subspace_angle": angle}


def gradient(covariance: Covariance, V: Array) -> Array:
    """Gradient of −tr((VᵀV)⁻¹ VᵀCV)."""
    Q, R = np.linalg.qr(V.astype(np.float64, copy=False))
    CQ = covariance.product(Q)
    across = -2 * (CQ - Q @ (Q.T @ CQ))
    return np.linalg.solve(R, across.T).T.astype(V.dtype, copy=False)


def basis(V: Array) -> Array:
    """Orthonormal columns with the span of V, in float64."""
    return np.linalg.qr(V.astype(np.float64, copy=False))[0]


def angles(Q: Array, V: Array) -> tuple[Array, Array]:
    """Compare the spans of two orthonormal bases, of equal size k.

    Returns their angles, and I − BBᵀ with B = VᵀQ. Cosines, the singular values of B,
    tell nothing of small angles; the sines, those of E = Q − VB, do. With E = … s Wᵀ
    is BW = U c, and so I − BBᵀ = U diag(s²) Uᵀ.
    """
    B = V.T @ Q
    _, sines, Wt = np.linalg.svd(Q - V @ B, full_matrices=False)
    U = B @ Wt.T
    cosines = np.linalg.norm(U, axis=0)
    if sines.max() > 0.5:
        lost = np.eye(len(B)) - B @ B.T
    else:
        U /= cosines
        lost = (U * sines**2) @ U.T
    return np.arctan2(sines, cosines), lost
