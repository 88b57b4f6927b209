"""Gossip matrices from a graph: W = I − (weighted Laplacian).

Each function gives W and its extreme eigenvalues apart from the 1 of consensus:
λ_min, the smallest, and λ₂, the largest.
"""

from __future__ import annotations

import numpy as np

from pmgt_mpi.graphs.gossip_matrix import GossipMatrix
from pmgt_mpi.graphs.laplacian import Laplacian
from pmgt_mpi.graphs.spectrum import Extremes


def laplacian(L: Laplacian) -> tuple[GossipMatrix, Extremes]:
    """W = I − L / μ_max, L the graph's Laplacian: 0 ⪯ W, as the paper asks.

    λ_min = 0 and λ₂ = 1 − μ₂ / μ_max.
    """
    mu_2, mu_max = L.extremes
    return L.identity_minus(1 / mu_max), Extremes(0.0, 1 - mu_2 / mu_max)


def best_constant(L: Laplacian) -> tuple[GossipMatrix, Extremes]:
    """W = I − 2 L / (μ_max + μ₂): of all I − αL the fastest (Xiao & Boyd 2004).

    λ₂ = −λ_min = (μ_max − μ₂) / (μ_max + μ₂): W is not positive semidefinite.
    """
    mu_2, mu_max = L.extremes
    lambda_2 = (mu_max - mu_2) / (mu_max + mu_2)
    W = L.identity_minus(2 / (mu_max + mu_2))
    return W, Extremes(0.0 - lambda_2, lambda_2)


def metropolis(L: Laplacian) -> tuple[GossipMatrix, Extremes]:
    """Lazy Metropolis–Hastings: W_ij = ½ / (1 + max(d_i, d_j)) on the edges.

    W = (I + W_MH) / 2: 0 ⪯ W, W_ij ≥ 0, and an agent needs to know nothing but its
    neighbours' degrees.
    """
    largest = np.maximum(L.degrees[L.rows], L.degrees[L.columns])
    if np.all(largest == largest[0]):  # W = I − αL: regular graphs, paths, stars
        alpha = 1 / (2 * (1 + float(largest[0])))
        mu_2, mu_max = L.extremes
        return (
            L.identity_minus(alpha),
            Extremes(1 - alpha * mu_max, 1 - alpha * mu_2),
        )
    halves = 0.5 / (1 + largest)
    mu_2, mu_max = L.weighted_extremes(halves)
    return L.identity_minus(halves), Extremes(1 - mu_max, 1 - mu_2)
