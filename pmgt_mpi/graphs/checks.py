"""What every method needs of a gossip matrix, checked on one from outside."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from pmgt_mpi.errors import UserError
from pmgt_mpi.graphs.spectrum import Extremes, Matrix, extremes
from pmgt_mpi.graphs.topologies import Graph

TOLERANCE = 1e-12
"""Asymmetry and error of a row's sum; what is left over drifts in every round."""

WILD = 1e6
"""Above it a number is refused by itself: sums and products with it may overflow."""

SPECTRAL_TOLERANCE = 1e-13
"""Rounding of an eigenvalue that is computed of a matrix of norm 1."""


def checked_symmetric(W: Matrix, where: str) -> Matrix:
    """Refuse a W of wild numbers, not symmetric, or whose rows do not sum to 1.

    Rounding is evened out: an agent that expects a message must be sent one, so that
    W_ij and W_ji are both 0 or both not.
    """
    entries = W.tocoo()
    bad = np.flatnonzero(~(np.abs(entries.data) <= WILD))
    if bad.size:
        i, j = entries.row[bad[0]], entries.col[bad[0]]
        raise UserError(
            f"{where}: W[{i}, {j}] is {entries.data[bad[0]]}; expected numbers from -1 "
            "to 1, between which those of a gossip matrix lie"
        )
    skew = (W - W.T).tocoo()
    bad = np.flatnonzero(np.abs(skew.data) > TOLERANCE)
    if bad.size:
        i, j = skew.row[bad[0]], skew.col[bad[0]]
        raise UserError(
            f"{where}: W is not symmetric: W[{i}, {j}] = {W[i, j]:.15g}, but "
            f"W[{j}, {i}] = {W[j, i]:.15g}; expected the same within {TOLERANCE:g}"
        )
    sums = W.sum(axis=1)
    bad = np.flatnonzero(np.abs(sums - 1) > TOLERANCE)
    if bad.size:
        raise UserError(
            f"{where}: row {bad[0]} of W sums to {sums[bad[0]]:.15g}; expected 1 "
            f"within {TOLERANCE:g}: correct it, or write W with all its digits (17)"
        )
    return sparse.csr_array((W + W.T) / 2)


def check_edges(W: Matrix, graph: Graph, where: str) -> None:
    """Refuse a weight between two agents that the graph does not link."""
    entries = W.tocoo()
    above = entries.row < entries.col
    for i, j in zip(entries.row[above], entries.col[above], strict=True):
        if int(j) not in graph[int(i)]:
            raise UserError(
                f"{where}: W[{i}, {j}] = {W[i, j]:.15g}, but the graph has no edge "
                f"between {i} and {j}; set it to 0, add the edge, or give W alone"
            )


def checked_spectrum(W: Matrix, where: str) -> Extremes:
    """λ_min and λ₂ of a symmetric W with W1 = 1; refused unless −1 < λ_min, λ₂ < 1.

    On the complement of 1 that is all that gossip needs: spectrum in (−1, 1], and the
    eigenvalue 1 simple.
    """
    if W.shape[0] == 1:
        return Extremes(0.0, 0.0)
    mu_2, mu_max = extremes(_identity_minus(W))
    if mu_2 <= SPECTRAL_TOLERANCE:
        raise UserError(
            f"{where}: W has an eigenvalue {1 - mu_2:.15g} besides the 1 of consensus; "
            "expected all others below 1: make the weights positive, or smaller"
        )
    if mu_max >= 2 - SPECTRAL_TOLERANCE:
        raise UserError(
            f"{where}: W has the eigenvalue {1 - mu_max:.15g}; expected all above -1: "
            "use (I + W) / 2, or smaller weights"
        )
    return Extremes(1 - mu_max, 1 - mu_2)


def _identity_minus(W: Matrix) -> Matrix:
    return (sparse.diags_array(np.ones(W.shape[0])) - W).tocsr()
