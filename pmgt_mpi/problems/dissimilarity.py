"""How much the Hessians of components and of agents differ: what sampling them costs.

With H_ij the Hessian of a component, or a bound of it, H_i the mean over an agent's
rows and H the mean over agents,

    V_i = E_j[H_ij²] − H_i²,     V = mean of V_i,     Z = mean of (H_i − H)².

The largest eigenvalues of V, of H^(−½) V H^(−½) and of Z say how much a minibatch and
an agent by itself miss of H.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.mpi.leader import led_by_first
from pmgt_mpi.problems.rows import Rows
from pmgt_mpi.problems.spectrum import second_moment

Array = NDArray[Any]

DENSE_LIMIT = 200
"""Largest d for which d × d matrices are made; above it there are products alone."""

TOLERANCE = 1e-2
"""Of eigenvalues from products: the parameters made of them are flat in them."""


class Dissimilarity(NamedTuple):
    """ν, the worst agent's ν, γ and ζ, as in `Constants`."""

    nu: float
    nu_local: float
    gamma: float | None
    zeta: float


class RowHessians:
    """H_ij = w (c I + φ'' a_j a_jᵀ) of an agent's rows, with a bound in place of φ''.

    c cancels in V_i, which is (w φ'')² (E_j[‖a_j‖² a_j a_jᵀ] − G_i²).

    Parameters
    ----------
    rows, columns
        a_j, and d.
    c, curvature
        c, and the φ'' of largest |φ''|.
    weight
        w = m n_i / N.
    """

    def __init__(
        self, rows: Rows, columns: int, c: float, curvature: float, weight: float
    ) -> None:
        self.columns = columns
        self._rows, self._c, self._curvature = rows, c, curvature
        self._weight = weight
        self._norms = rows.squared_norms()

    def matrices(self) -> tuple[Array, Array]:
        """V_i and H_i."""
        G = self._rows.gram()
        V = (self._weight * self._curvature) ** 2 * (
            self._rows.gram(self._norms) - G @ G
        )
        H = self._weight * self._curvature * G
        H.flat[:: len(H) + 1] += self._weight * self._c
        return V, H

    def variance(self, x: Array) -> Array:
        """V_i x."""
        z = self._rows.dot(x)
        second = self._rows.tdot(self._norms * z / z.size)
        twice = second_moment(self._rows, second_moment(self._rows, x))
        return (self._weight * self._curvature) ** 2 * (second - twice)

    def mean(self, x: Array) -> Array:
        """H_i x."""
        moved = self._curvature * second_moment(self._rows, x)
        return self._weight * (moved + self._c * x)


def dissimilarity(
    hessians: RowHessians, collective: Collective, *, convex: bool
) -> Dissimilarity:
    """Measure how the Hessians of all agents differ; collective.

    Parameters
    ----------
    convex
        Whether all components are convex: γ is of use there only.
    """
    if hessians.columns <= DENSE_LIMIT:
        return _of_matrices(hessians, collective, convex=convex)
    m, d = collective.agents, hessians.columns

    def variance(x: Array) -> Array:
        return collective.sum(hessians.variance(x)) / m

    def between_agents(x: Array) -> Array:
        own = hessians.mean(x)
        both = collective.sum(np.stack([own, hessians.mean(own)])) / m
        difference: Array = both[1] - collective.sum(hessians.mean(both[0])) / m
        return difference

    nu, zeta = (
        led_by_first(collective, product, lambda ask: _largest(ask, d))
        for product in (variance, between_agents)
    )
    own = _largest(hessians.variance, d)
    return Dissimilarity(nu, float(collective.max(np.array(own))), None, zeta)


def _of_matrices(
    hessians: RowHessians, collective: Collective, *, convex: bool
) -> Dissimilarity:
    V, H = hessians.matrices()
    own = np.array(_root(np.linalg.eigvalsh(V)[-1]))
    V, H, H2 = collective.sum(np.stack([V, H, H @ H])) / collective.agents
    found: Any = None
    if collective.agent == 0:
        gamma = _relative(V, H) if convex else None
        Z = H2 - H @ H
        found = (
            _root(np.linalg.eigvalsh(V)[-1]),
            gamma,
            _root(np.linalg.eigvalsh(Z)[-1]),
        )
    nu, gamma, zeta = collective.from_first(found)
    return Dissimilarity(nu, float(collective.max(own)), gamma, zeta)


def _relative(V: Array, H: Array) -> float | None:
    """λ_max(H^(−½) V H^(−½)); None where H is not positive definite."""
    try:
        half = np.linalg.inv(np.linalg.cholesky(H))
    except np.linalg.LinAlgError:
        return None
    return max(float(np.linalg.eigvalsh(half @ V @ half.T)[-1]), 0.0)


def _largest(product: Callable[[Array], Array], d: int) -> float:
    """√λ_max of an operator, from products with it."""
    from scipy.sparse.linalg import LinearOperator, eigsh

    start = np.random.default_rng(0).standard_normal(d)
    if not product(start).any():
        return 0.0
    operator = LinearOperator(
        (d, d), matvec=lambda x: product(x.ravel()), dtype=np.float64
    )
    top = eigsh(
        operator, k=1, which="LA", v0=start, tol=TOLERANCE, return_eigenvectors=False
    )
    return _root(top[0])


def _root(eigenvalue: float) -> float:
    """√λ, zero where rounding has made λ negative."""
    return sqrt(max(float(eigenvalue), 0.0))
