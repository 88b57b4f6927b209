"""What methods for eigenvectors share: bases that all agents choose alike."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.algorithms.base import Setting

Array = NDArray[Any]


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


def across(V: Array, CV: Array) -> float:
    """‖(I − VVᵀ)CV‖ / ‖CV‖: how far V is from spanning an eigenspace."""
    size = float(np.linalg.norm(CV))
    rest = float(np.linalg.norm(CV - V @ (V.T @ CV)))
    return rest / size if size > 0 else 0.0


def resolved_rounds(setting: Setting, wanted: int | str, contraction: float) -> int:
    """M: a number, that of [mixing], or the fewest rounds with this contraction."""
    if wanted == "section":
        wanted = setting.mix_rounds
    if isinstance(wanted, str):
        return setting.rounds_for(contraction)
    return wanted
