"""Constants from the Hessian of every row of every agent, d × d: numpy only."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

Hessians = list[list[np.ndarray]]
"""H_ij of every agent i and row j, the weight m n_i / N in it."""


class Exact(NamedTuple):
    """What the package calls by these names."""

    L: float
    l1: float
    l2: float
    sigma: float
    L_local: float
    mu_local: float
    nu: float
    nu_local: float
    gamma: float | None
    zeta: float


def hessians_of_rows(parts: list[np.ndarray], c: float, factor: float) -> Hessians:
    """m n_i / N (c I + factor a aᵀ) for each row a of each agent's part."""
    m, N = len(parts), sum(map(len, parts))
    eye = np.eye(parts[0].shape[1])
    return [
        [m * len(part) / N * (c * eye + factor * np.outer(a, a)) for a in part]
        for part in parts
    ]


def exact_constants(H: Hessians) -> Exact:
    """Eigenvalues of H_ij, of H_i, of H, of V_i and V, and of the mean (H_i − H)²."""
    of_rows = np.concatenate([np.linalg.eigvalsh(own).ravel() for own in H])
    means = [np.mean(own, axis=0) for own in H]
    of_agents = np.linalg.eigvalsh(means)
    variances = [
        np.mean([h @ h for h in own], axis=0) - mean @ mean
        for own, mean in zip(H, means, strict=True)
    ]
    V, mean = np.mean(variances, axis=0), np.mean(means, axis=0)
    Z = np.mean([(own - mean) @ (own - mean) for own in means], axis=0)
    values, vectors = np.linalg.eigh(mean)
    gamma = None
    if of_rows.min() >= 0 and values[0] > 0:
        half = vectors / np.sqrt(values) @ vectors.T
        gamma = largest(half @ V @ half)
    squares = [largest(V), max(map(largest, variances)), largest(Z)]
    nu, nu_local, zeta = np.sqrt(np.maximum(squares, 0))
    l1 = max(of_rows.max(), 0.0)
    return Exact(
        L=np.abs(values).max(),
        l1=l1,
        l2=max(l1, -of_rows.min()),
        sigma=max(values[0], 0.0),
        L_local=np.abs(of_agents).max(),
        mu_local=of_agents.min(),
        nu=nu,
        nu_local=nu_local,
        gamma=gamma,
        zeta=zeta,
    )


def largest(matrix: np.ndarray) -> float:
    return float(np.linalg.eigvalsh(matrix)[-1])
