"""What methods for eigenvectors share: bases that all agents choose alike."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.algorithms.base import Algorithm, Setting

Array = NDArray[Any]


class Found(NamedTuple):
    """What an agent knows of the eigenpairs, the largest first.

    Attributes
    ----------
    V, values
        Orthonormal columns v_j, and θ_j = v_jᵀCv_j.
    residuals
        ‖Cv_j − θ_j v_j‖: over the gap to the next θ, the angle that v_j is wrong by.
    beyond
        A number that is above λ_{k+1}, of methods that come to know one.
    """

    V: Array
    values: Array
    residuals: Array
    beyond: float | None = None


class EigenvectorSolver(Algorithm, Protocol):
    """An algorithm that looks for eigenvectors."""

    def found(self, state: Any) -> Found:
        """Return the eigenpairs, as far as they are known; no message, no pass."""
        ...


def orthonormal(S: Array) -> Array:
    """Q of S = QR with a diagonal of R that is not negative.

    So Q depends on S continuously, and agents whose S are close have close Q: without
    the signs a column may flip on one agent and not on another.
    """
    Q, R = np.linalg.qr(S)
    return Q * np.where(np.diag(R) < 0, -1.0, 1.0).astype(S.dtype)  # type: ignore[no-any-return]


def leading(C: Array, k: int) -> tuple[Array, Array]:
    """The k largest eigenvalues of a symmetric matrix, and their eigenvectors."""
    values, vectors = np.linalg.eigh(C)
    return values[: -k - 1 : -1], vectors[:, : -k - 1 : -1]


def signed(V: Array, start: Array) -> Array:
    """V with columns at less than a right angle to those of the start."""
    towards = np.einsum("ij,ij->j", V, start)
    return V * np.where(towards < 0, -1.0, 1.0).astype(V.dtype)  # type: ignore[no-any-return]


def ritz(Q: Array, CQ: Array, k: int) -> tuple[Found, Array]:
    """Rayleigh and Ritz: the k leading eigenpairs of C in the span of Q, and CV − VΘ.

    Two columns meet in QᵀCQ from the product of the older one. When V has converged, a
    new column of a basis is made of rounding, and its product is wrong by as much as
    agents could not agree on it. V must not see that: what it has to do with the new
    column, V's own product tells.
    """
    older = np.triu(CQ.T @ Q)
    values, Y = leading(older + np.triu(older, 1).T, k)
    V = Q @ Y
    R = CQ @ Y - V * values
    return Found(V, values, np.linalg.norm(R, axis=0)), R


def resolved_rounds(setting: Setting, wanted: int | str, contraction: float) -> int:
    """M: a number, that of [mixing], or the fewest rounds with this contraction."""
    if wanted == "section":
        wanted = setting.mix_rounds
    if isinstance(wanted, str):
        return setting.rounds_for(contraction)
    return wanted
