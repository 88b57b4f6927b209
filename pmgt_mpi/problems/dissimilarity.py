"""How much the Hessians of components and of agents differ: what sampling them costs.

With H_ij the Hessian of a component, or a bound of it, H_i the mean over an agent's
rows and H the mean over agents,

    V_i = E_j[H_ij²] − H_i²,     V = mean of V_i,     Z = mean of (H_i − H)².

The largest eigenvalues of V, of H^(−½) V H^(−½) and of Z say how much a minibatch and
an agent by itself miss of H.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import sqrt
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.mpi.leader import led_by_first
from pmgt_mpi.problems.lanczos import largest, largest_relative
from pmgt_mpi.problems.spectrum import SecondMoment

Array = NDArray[Any]

TOLERANCE = 0.1
"""Of residuals, for eigenvalues from products: some hundredths of themselves, and the
parameters made of them are flat in them."""

GAMMA_TOLERANCE = 1e-2
"""Of γ from products: what a step must add to it for another to be taken."""


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
    G
        The mean of a_j a_jᵀ.
    c, curvature
        c, and the φ'' of largest |φ''|.
    weight
        w = m n_i / N.
    """

    def __init__(
        self, G: SecondMoment, c: float, curvature: float, weight: float
    ) -> None:
        self.columns = G.columns
        self._G, self._c, self._curvature = G, c, curvature
        self._weight = weight
        self._norms = G.rows.squared_norms()

    def matrices(self) -> tuple[Array, Array] | None:
        """V_i and H_i, where d is not too large for that."""
        G = self._G.matrix
        if G is None:
            return None
        V = self._G.rows.gram(self._norms) - G @ G
        V *= (self._weight * self._curvature) ** 2
        H = self._weight * self._curvature * G
        H.flat[:: len(H) + 1] += self._weight * self._c
        return V, H

    def variance(self, x: Array) -> Array:
        """V_i x."""
        z = self._G.rows.dot(x)
        z *= 1 / z.size
        first = self._G.rows.tdot(z)
        second = self._G.rows.tdot(self._norms * z)
        return (self._weight * self._curvature) ** 2 * (second - self._G(first))

    def mean(self, x: Array) -> Array:
        """H_i x."""
        moved = self._curvature * self._G(x)
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
    matrices = hessians.matrices()
    if matrices is not None:
        return _of_matrices(*matrices, collective, convex=convex)
    return of_products(hessians, collective, convex=convex)


class Hessians(Protocol):
    """Products with the Hessians of an agent's components."""

    columns: int

    def variance(self, x: Array) -> Array:
        """V_i x."""
        ...

    def mean(self, x: Array) -> Array:
        """H_i x."""
        ...


def of_products(
    hessians: Hessians, collective: Collective, *, convex: bool
) -> Dissimilarity:
    """Measure the same, from products alone; collective."""
    m, d = collective.agents, hessians.columns

    def variance(x: Array) -> Array:
        return collective.sum(hessians.variance(x)) / m

    def between_agents(x: Array) -> Array:
        own = hessians.mean(x)
        both = collective.sum(np.stack([own, hessians.mean(own)])) / m
        difference: Array = both[1] - collective.sum(hessians.mean(both[0])) / m
        return difference

    def largest_of(product: Callable[[Array], Array]) -> float:
        return led_by_first(collective, product, lambda ask: largest(ask, d, TOLERANCE))

    def either(what: str, x: Array) -> Array:
        return variance(x) if what == "V" else collective.sum(hessians.mean(x)) / m

    gamma = None
    if convex:
        gamma = led_by_first(
            collective,
            either,
            lambda ask: largest_relative(
                partial(ask, "V"), partial(ask, "H"), d, GAMMA_TOLERANCE
            ),
        )
    own = np.array(_root(largest(hessians.variance, d, TOLERANCE)))
    return Dissimilarity(
        _root(largest_of(variance)),
        float(collective.max(own)),
        gamma,
        _root(largest_of(between_agents)),
    )


def _of_matrices(
    V: Array, H: Array, collective: Collective, *, convex: bool
) -> Dissimilarity:
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


def _root(eigenvalue: float) -> float:
    """√λ, zero where rounding has made λ negative."""
    return sqrt(max(float(eigenvalue), 0.0))
