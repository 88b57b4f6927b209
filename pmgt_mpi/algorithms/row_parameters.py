"""What the parameters of methods that step along single rows are made of."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

from pmgt_mpi.algorithms.base import Setting
from pmgt_mpi.algorithms.opapc import contraction_below_1


class Rows(NamedTuple):
    """Of the worst agent each, with L_j the smoothness of h_j(⟨a_j, x⟩).

    Attributes
    ----------
    mu
        The smallest μ.
    smoothness
        max_i (μ + Σ_j L_j).
    condition, roots
        max_i Σ_j (1 + L_j/μ), and the same of their square roots, times √2 over the
        smallest of them where that is above 1: then 1/(√2 roots) is at most half of the
        least odds.
    """

    mu: float
    smoothness: float
    condition: float
    roots: float


def rows_of(method: str, setting: Setting, word: str) -> Rows:
    """Return them as they were measured; else bounds, from l1 and σ."""
    c = setting.needed_curvature(method, "step_size", word)
    if c.mu_rows and c.L_rows and c.kappa_rows and c.root_rows:
        return Rows(c.mu_rows, c.L_rows, c.kappa_rows, c.root_rows)
    mu = setting.convexity(method, "step_size", word)
    L = max(c.l1, mu)
    return Rows(mu, L, setting.n * L / mu, setting.n * sqrt(2 * L / mu))


def spread(method: str, setting: Setting, M: int) -> tuple[float, float]:
    """Bounds of the eigenvalues of I − FastMix(·, M), but for the 0 of agreement."""
    rho = contraction_below_1(method, setting, M)
    return 1 - rho, 1 + rho
