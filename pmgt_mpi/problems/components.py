"""The components of a linear model one by one, for methods that step along single rows.

An agent's f_i, its weight w = m n_i / N included, is here a sum over its n_i rows,

    f_i(x) = Σ_j h_j(⟨a_j, x⟩) + (μ/2)‖x‖² + ⟨b, x⟩,   h_j = w φ_j / n_i,   μ = w c,

so that the gradient of a component is one number times a_j.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.problems.scalar_prox import proximal_slope

Array = NDArray[Any]

NEEDED = ("A", "b", "c", "slope", "curvature", "targets", "curvatures")
"""What a linear model (`pmgt_mpi.problems.linear`) has that this is made of."""


def has_convex_components(problem: Any) -> bool:
    """Whether it is a linear model whose φ are convex."""
    return all(hasattr(problem, name) for name in NEEDED) and problem.curvatures[0] >= 0


class Components:
    """h_j and a_j of one agent.

    Parameters
    ----------
    problem
        A linear model with convex φ.
    weight
        w.
    """

    def __init__(self, problem: Any, weight: float) -> None:
        self._problem = problem
        self._share = weight / problem.rows
        self.mu = weight * float(problem.c)
        self.b: Array | float = 0.0 if problem.b is None else weight * problem.b

    @cached_property
    def norms(self) -> Array:
        """‖a_j‖² of every row."""
        norms: Array = self._problem.A.squared_norms()
        return norms

    @cached_property
    def smoothness(self) -> Array:
        """Of every h_j(⟨a_j, x⟩), in x."""
        smoothness: Array = self._share * self._problem.curvatures[1] * self.norms
        return smoothness

    def dot(self, x: Array, rows: Array | None = None) -> Array:
        """⟨a_j, x⟩ for each j in rows, or for all."""
        A = self._problem.A if rows is None else self._problem.A.gather(rows)
        z: Array = A.dot(x)
        return z

    def combine(self, s: Array, rows: Array | None = None) -> Array:
        """Σ_j s_j a_j over rows, or over all."""
        A = self._problem.A if rows is None else self._problem.A.gather(rows)
        total: Array = A.tdot(s)
        return total

    def slopes(self, z: Array, rows: Array | None = None) -> Array:
        """h_j'(z_j) for each j in rows, or for all."""
        problem = self._problem
        slopes: Array = self._share * problem.slope(z, problem.targets(rows))
        return slopes

    def proximal_slope(self, r: Array, k: float, row: Array) -> Array:
        """h_j'(ζ) where ζ + k h_j'(ζ) = r, of one row; r and the result have its shape.

        To rounding, whatever the φ.
        """
        problem, y = self._problem, self._problem.targets(row)

        def slope(zeta: float) -> float:
            return float(problem.slope(np.array([zeta]), y)[0])

        def curvature(zeta: float) -> float:
            return float(problem.curvature(np.array([zeta]), y)[0])

        s = proximal_slope(slope, curvature, k * self._share, float(r[0]))
        return np.full_like(r, self._share * s)


def row_constants(
    problem: Any, weight: float, collective: Collective
) -> dict[str, float]:
    """Those of `Constants` that are of single rows, over all agents; collective."""
    if not has_convex_components(problem) or problem.c <= 0:
        return {}
    f = Components(problem, weight)
    odds = 1 + f.smoothness / f.mu
    roots = np.sqrt(odds).sum() * max(1.0, np.sqrt(2 / odds.min()))
    sums = [-f.mu, f.mu + f.smoothness.sum(), odds.sum(), roots]
    mu, L, kappa, root = map(float, collective.max(np.array(sums)))
    return {"mu_rows": -mu, "L_rows": L, "kappa_rows": kappa, "root_rows": root}
