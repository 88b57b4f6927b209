"""Linear models with a quadratic loss: one product where others need two."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.problems.linear import LinearModel
from pmgt_mpi.problems.spectrum import second_moment

Array = NDArray[Any]

DENSE_LIMIT = 2048
"""Largest d for which Q is made."""


class QuadraticModel(LinearModel):
    """φ(z; y) = (κ/2)(z − y)², so f_i(x) = ½ xᵀQx + ⟨q, x⟩ + const.

    Q = κ G_i + c I with G_i the mean of a aᵀ over the agent's rows, and q = b − κ h
    with h the mean of y a. Q is made, once, where a product with it costs less than a
    product with the rows.
    """

    quadratic: ClassVar[bool] = True
    kappa: ClassVar[float]

    def loss(self, z: Array, y: Array | float) -> Array:
        """(κ/2)(z − y)²."""
        return 0.5 * self.kappa * (z - y) ** 2

    def slope(self, z: Array, y: Array | float) -> Array:
        """κ (z − y)."""
        return self.kappa * (z - y)

    def curvature(self, z: Array, y: Array | float) -> Array:  # noqa: ARG002
        """κ for every row."""
        return np.full_like(z, self.kappa)

    def divergence(self, delta: Array, z: Array, y: Array | float) -> Array:  # noqa: ARG002
        """(κ/2) δ²."""
        return 0.5 * self.kappa * delta**2

    @cached_property
    def Q(self) -> Array | None:
        """∇²f_i, or None where products with the rows are cheaper."""
        d = self.shape[0]
        if d > DENSE_LIMIT or d * d >= self.A.entries:
            return None
        return self._second_derivative()

    @property
    def value_reads(self) -> int:
        """How often f_i(x) reads the rows; with Q it reads none, as do gradients."""
        return 2 if self.Q is None else 1

    @cached_property
    def q(self) -> Array:
        """∇f_i(0) = b − κ h."""
        q = np.zeros(self.shape) if self.b is None else self.b.astype(np.float64)
        if self.y is not None:
            q -= self.kappa / self.rows * self.A.tdot(self.y.astype(np.float64))
        return q

    @cached_property
    def _constant(self) -> float:
        """f_i(0)."""
        if self.y is None:
            return 0.0
        return 0.5 * self.kappa * float(np.mean(self.y.astype(np.float64) ** 2))

    def prepare(self) -> None:
        """Make Q and q, and remember them: they belong to the set-up."""
        _ = self.Q, self.q, self._constant

    def value(self, x: Array) -> float:
        """f_i(x)."""
        return float(x.dot(0.5 * self._apply(x) + self.q)) + self._constant

    def grad(self, x: Array) -> Array:
        """∇f_i(x) = Qx + q, a new array."""
        out = self._apply(x)
        out += self.q
        return out.astype(x.dtype, copy=False)

    def minibatch_difference(self, w: Array, w0: Array, rows: Array) -> Array:
        """(κ/b) Σ_j ⟨a_j, w − w0⟩ a_j + c (w − w0)."""
        return self.A.normal(rows, w - w0, self.kappa / rows.size, self.c)

    def hessian(self, x: Array) -> Array:  # noqa: ARG002
        """Q, whatever x."""
        return self._second_derivative() if self.Q is None else self.Q.copy()

    def bregman(self, x: Array, x_star: Array) -> float:
        """½ (x − x*)ᵀ Q (x − x*)."""
        d = x - x_star
        return 0.5 * float(d.dot(self._apply(d)))

    def plus_square(self, epsilon: float) -> Self:
        """f_i + (ε/2)‖x‖²; Q changes with c, and is made again."""
        other = super().plus_square(epsilon)
        other.__dict__.pop("Q", None)
        return other

    def _apply(self, x: Array) -> Array:
        """Q x, a new array."""
        if self.Q is not None:
            return self.Q.dot(x)  # type: ignore[no-any-return]
        out = second_moment(self.A, x)
        out *= self.kappa
        out += self.c * x
        return out

    def _second_derivative(self) -> Array:
        G = self.G.matrix
        Q = self.kappa * (self.A.gram() if G is None else G)
        Q.flat[:: len(Q) + 1] += self.c
        return Q
