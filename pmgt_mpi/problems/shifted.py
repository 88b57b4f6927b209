"""The linear systems of shift-and-invert, as a problem of the runtime."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.problems.covariance import Covariance

Array = NDArray[Any]


class ShiftedCovariance:
    """f_i(z) = ½⟨z, (c I − P C_i P)z⟩ − ⟨w, z⟩, P = I − VVᵀ: nonconvex terms.

    A row enters as ½⟨z, (c I − b bᵀ)z⟩ − ⟨w, z⟩ with b = P(a − centre), which is not
    convex where ‖b‖² > c; the mean over all agents is, for c above λ_1 of PCP. Its
    minimiser is (c I − PCP)⁻¹ w.

    Parameters
    ----------
    covariance
        C_i and the rows.
    c, w
        The shift, and the right-hand side.
    V
        Orthonormal columns: what is left out.
    """

    def __init__(self, covariance: Covariance, c: float, w: Array, V: Array) -> None:
        self.covariance = covariance
        self.c, self.w, self.V = c, w, V
        self.rows, self.shape = covariance.rows, covariance.shape

    def outside(self, x: Array) -> Array:
        """P x."""
        return x - self.V @ (self.V.T @ x)  # type: ignore[no-any-return]

    def value(self, z: Array) -> float:
        """f_i(z)."""
        u = self.outside(z)
        product = self.covariance.product(u[:, np.newaxis])[:, 0]
        return float(0.5 * (self.c * (z @ z) - u @ product) - self.w @ z)

    def grad(self, z: Array) -> Array:
        """∇f_i(z) = c z − P C_i P z − w."""
        product = self.covariance.product(self.outside(z)[:, np.newaxis])[:, 0]
        return self.c * z - self.outside(product) - self.w

    def minibatch_grad(self, z: Array, rows: Array) -> Array:
        """(1/b) Σ_{j ∈ rows} ∇f_ij(z)."""
        return self.c * z - self._product(z, rows) - self.w

    def minibatch_difference(self, z: Array, z0: Array, rows: Array) -> Array:
        """minibatch_grad(z, rows) − minibatch_grad(z0, rows), the rows read once."""
        return self.c * (z - z0) - self._product(z - z0, rows)

    def _product(self, x: Array, rows: Array) -> Array:
        """(1/b) Σ_j b_j ⟨b_j, x⟩."""
        batch = Covariance(self.covariance.A[rows], self.covariance.centre)
        return self.outside(batch.product(self.outside(x)[:, np.newaxis])[:, 0])
