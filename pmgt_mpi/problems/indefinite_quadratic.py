"""Quadratics with indefinite components and a convex mean, made to measure."""

from __future__ import annotations

from math import sqrt
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.data.shard import Shard
from pmgt_mpi.data.sources.gaussian import falling
from pmgt_mpi.errors import UserError
from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.options import PositiveStrength, Seed, Strength, Within
from pmgt_mpi.problems.base import Constants
from pmgt_mpi.problems.curvatures import curvatures
from pmgt_mpi.problems.rows import DenseRows

Array = NDArray[Any]


class IndefiniteQuadratic:
    """Random indefinite quadratics whose mean is convex, with a given condition.

    f_ij(x) = ½ xᵀH_ij x + ⟨b_ij, x⟩,  H_ij = Q diag(h_ij) Qᵀ,  h_ij ∈ [−l2, l1]^d.

    The h_ij are made of the rows of the data (`problems.curvatures`), so a row is d
    numbers and not d². Their mean over all rows of all agents falls geometrically from
    L = `smoothness` to σ = L / `condition`; each of the d directions has rows that
    attain −l2 and rows that attain l1. A single H_ij is positive definite only where
    all its d numbers happen to be positive. How much the agents' f_i differ is a
    matter of the data and their partition.

    Q = I − 2vvᵀ is a reflection in a random direction, so that no axis is an
    eigenvector and a product with Q costs O(d). b_ij = b + s (H_ij − H) p with b and p
    random directions of norm 1, H the mean of H_ij, and s = `spread`: the mean of b_ij
    is b, and x* = −H⁻¹b.

    Parameters
    ----------
    condition
        L / σ of the mean.
    smoothness
        L of the mean.
    l1
        Every component's curvature lies in [−l2, l1], and both are attained. The
        weight m n_i / N of unequal shards comes on top, as it does everywhere.
    l2
        See l1.
    spread
        s, how much the linear terms differ.
    seed
        Of the directions v, b and p.
    """

    quadratic: ClassVar[bool] = True

    def __init__(
        self,
        shard: Shard,
        collective: Collective,
        *,
        condition: Annotated[float, Within(ge=1, le=1e15)] = 100.0,
        smoothness: PositiveStrength = 1.0,
        l1: PositiveStrength = 10.0,
        l2: PositiveStrength = 10.0,
        spread: Strength = 1.0,
        seed: Seed = 0,
    ) -> None:
        d = shard.columns
        check(shard, condition, smoothness, l1, l2)
        mean = smoothness * falling(d, condition, "geometric")
        self.shape = (d,)
        self.rows = shard.rows
        self.weight = shard.weight
        self.h = DenseRows(curvatures(shard, collective, mean, -l2, l1))
        self.h_mean: Array = self.h.tdot(np.full(self.rows, 1 / self.rows))
        normal = np.random.default_rng(seed).standard_normal((3, d))
        normal /= np.linalg.norm(normal, axis=1, keepdims=True)
        # In the coordinates z = Qx: ∇f_ij is h ∘ (z + shift) + common.
        self.v, b, p = collective.from_first(normal)
        self.shift = spread * p
        self.common = b - mean * self.shift

    def value(self, x: Array) -> float:
        """f_i(x)."""
        z = self._reflect(x)
        slope = self.h_mean * (0.5 * z + self.shift) + self.common
        return float(slope.dot(z))

    def grad(self, x: Array) -> Array:
        """∇f_i(x), a new array; the mean of h_ij is all it needs."""
        return self._grad(x, self.h_mean)

    def minibatch_grad(self, x: Array, rows: Array) -> Array:
        """(1/b) Σ_{j ∈ rows} ∇f_ij(x); a row drawn twice counts twice."""
        return self._grad(x, self._mean_of(rows))

    def minibatch_difference(self, w: Array, w0: Array, rows: Array) -> Array:
        """(1/b) Σ_{j ∈ rows} H_ij (w − w0)."""
        out = self._reflect(self._mean_of(rows) * self._reflect(w - w0))
        return out.astype(w.dtype, copy=False)

    def hessian(self, x: Array) -> Array:  # noqa: ARG002
        """Q diag(mean of h_ij) Qᵀ, whatever x."""
        Q: Array = np.eye(self.shape[0]) - 2 * np.outer(self.v, self.v)
        H: Array = (Q * self.h_mean) @ Q
        return H

    def bregman(self, x: Array, x_star: Array) -> float:
        """½ Σ_k h_k z_k² with z = Q(x − x*) and h the mean of h_ij."""
        z = self._reflect(x - x_star)
        return 0.5 * float(self.h_mean.dot(z * z))

    def constants(self, collective: Collective) -> Constants:
        """All of them exact: h_ij are the eigenvalues, weights included."""
        mean = collective.sum(self.weight / collective.agents * self.h_mean)
        ends = [
            self.h.A.max(),
            -self.h.A.min(),
            np.abs(self.h_mean).max(),
            -self.h_mean.min(),
        ]
        l1, l2, L_local, sag = collective.max(self.weight * np.array(ends, float))
        own = self.weight**2 * self.h.A.var(axis=0, dtype=np.float64)
        local = self.weight * self.h_mean
        variance, square = collective.sum(np.stack([own, local**2])) / collective.agents
        return Constants(
            L=float(np.abs(mean).max()),
            l1=float(l1),
            l2=float(max(l1, l2)),
            sigma=max(float(mean.min()), 0.0),
            L_local=float(L_local),
            mu_local=-float(sag),
            convex=bool(l2 <= 0),
            nu=sqrt(variance.max()),
            nu_local=sqrt(collective.max(np.array(own.max()))),
            zeta=sqrt(max((square - mean**2).max(), 0.0)),
        )

    def _grad(self, x: Array, h: Array) -> Array:
        out = self._reflect(h * (self._reflect(x) + self.shift) + self.common)
        return out.astype(x.dtype, copy=False)

    def _mean_of(self, rows: Array) -> Array:
        share = np.full(rows.size, 1 / rows.size, self.h.dtype)
        return self.h.gather(rows).tdot(share)

    def _reflect(self, x: Array) -> Array:
        """Q x, which is Qᵀ x too; a new array, float64."""
        reflected: Array = x - (2 * self.v.dot(x)) * self.v
        return reflected


def check(
    shard: Shard, condition: float, smoothness: float, l1: float, l2: float
) -> None:
    """Refuse what cannot be made."""
    if shard.sparse:
        raise UserError(
            "problem 'indefinite-quadratic' needs dense rows, and these are sparse; "
            "set [data] layout = 'dense'"
        )
    if l1 <= smoothness:
        raise UserError(
            f"[problem] l1 = {l1:g}: components are curved more than their mean; "
            f"expected more than smoothness = {smoothness:g}"
        )
    if shard.columns == 1 and condition > 1:
        raise UserError(
            f"[problem] condition = {condition:g}: with one column there is one "
            "curvature; use data of at least 2 columns, or condition = 1"
        )
    rows: Any = shard.A
    rounding = float(np.finfo(rows.dtype).eps) * max(l1, l2)
    if smoothness / condition <= rounding:
        raise UserError(
            f"[problem] condition = {condition:g}: the smallest curvature of the mean, "
            f"smoothness/condition = {smoothness / condition:.3g}, is lost in the "
            f"rounding ({rows.dtype}) of components curved by up to {max(l1, l2):g}; "
            f"expected less than {smoothness / rounding:.2g}, or smaller l1 and l2"
        )
