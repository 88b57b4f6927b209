"""Linear models: the part that all of them share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy
from functools import cached_property
from math import inf
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.data.shard import Shard
from pmgt_mpi.errors import UserError
from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.problems.base import Constants
from pmgt_mpi.problems.components import row_constants
from pmgt_mpi.problems.dissimilarity import RowHessians, dissimilarity
from pmgt_mpi.problems.rows import Rows, rows_of
from pmgt_mpi.problems.spectrum import (
    SecondMoment,
    Spectrum,
    local_spectrum,
    mean_spectrum,
)

Array = NDArray[Any]


class LinearModel(ABC):
    """f_ij(x) = φ(⟨a_ij, x⟩; y_ij) + (c/2)‖x‖² + ⟨b, x⟩.

    A model is its loss φ: `loss`, `slope` (φ'), `curvature` (φ''), `divergence`, and
    the bounds of φ''. The gradient of one row is one number times a_ij plus what is
    common to all rows; `slopes` and `combine` give methods that remember gradients
    that one number a row.

    Parameters
    ----------
    shard
        The agent's rows.
    c, b
        Coefficients of the common quadratic and linear terms; b = None is 0.
    y
        One number a row; None where φ has none.
    """

    curvatures: ClassVar[tuple[float, float]]
    """Bounds of φ''."""

    def __init__(
        self, shard: Shard, *, c: float, b: Array | None = None, y: Array | None = None
    ) -> None:
        self.shape = (shard.columns,)
        self.rows = shard.rows
        self.weight = shard.weight
        self.c = float(c)
        self.b = b
        self.A: Rows = rows_of(shard.A)
        self.y = None if y is None else y.astype(self.A.dtype)
        self._spectrum: Spectrum | None = None

    @abstractmethod
    def loss(self, z: Array, y: Array | float) -> Array:
        """φ(z; y)."""

    @abstractmethod
    def slope(self, z: Array, y: Array | float) -> Array:
        """φ'(z; y), a new array."""

    @abstractmethod
    def curvature(self, z: Array, y: Array | float) -> Array:
        """φ''(z; y)."""

    @abstractmethod
    def divergence(self, delta: Array, z: Array, y: Array | float) -> Array:
        """φ(z + δ; y) − φ(z; y) − φ'(z; y) δ, without cancellation for small δ."""

    def value(self, x: Array) -> float:
        """f_i(x)."""
        common = 0.5 * self.c * x.dot(x)
        if self.b is not None:
            common += self.b.dot(x)
        return float(self.loss(self.A.dot(x), self.targets()).mean() + common)

    def grad(self, x: Array) -> Array:
        """∇f_i(x), a new array."""
        out = self.combine(self.slopes(x))
        out += self.common_grad(x)
        return out

    def minibatch_grad(self, x: Array, rows: Array) -> Array:
        """(1/b) Σ_{j ∈ rows} ∇f_ij(x); a row drawn twice counts twice."""
        batch = self.A.gather(rows)
        s = self.slope(batch.dot(x), self.targets(rows))
        s *= 1 / rows.size
        out = batch.tdot(s)
        out += self.common_grad(x)
        return out

    def minibatch_difference(self, w: Array, w0: Array, rows: Array) -> Array:
        """minibatch_grad(w, rows) − minibatch_grad(w0, rows), the rows read once."""
        batch = self.A.gather(rows)
        y = self.targets(rows)
        s = self.slope(batch.dot(w), y)
        s -= self.slope(batch.dot(w0), y)
        s *= 1 / rows.size
        out = batch.tdot(s)
        out += self.c * (w - w0)
        return out

    def slopes(self, x: Array, rows: Array | None = None) -> Array:
        """φ'(⟨a_j, x⟩; y_j) for each j in rows, or for all rows."""
        batch = self.A if rows is None else self.A.gather(rows)
        return self.slope(batch.dot(x), self.targets(rows))

    def combine(self, slopes: Array, rows: Array | None = None) -> Array:
        """(1/b) Σ_{j ∈ rows} s_j a_j, or the mean over all rows."""
        batch = self.A if rows is None else self.A.gather(rows)
        return batch.tdot(slopes * (1 / slopes.size))

    def common_grad(self, x: Array) -> Array:
        """c x + b: the part of ∇f_ij that no row changes; a new array."""
        out = self.c * x
        if self.b is not None:
            out += self.b
        return out

    def targets(self, rows: Array | None = None) -> Array | float:
        """y_j for each j in rows, or for all rows; 0 where φ has no y."""
        if self.y is None:
            return 0.0
        return self.y if rows is None else self.y.take(rows)

    def hessian(self, x: Array) -> Array:
        """∇²f_i(x), d × d."""
        H = self.A.gram(self.curvature(self.A.dot(x), self.targets()))
        H.flat[:: len(H) + 1] += self.c
        return H

    def bregman(self, x: Array, x_star: Array) -> float:
        """f_i(x) − f_i(x*) − ⟨∇f_i(x*), x − x*⟩, without cancellation."""
        d = x - x_star
        parts = self.divergence(self.A.dot(d), self.A.dot(x_star), self.targets())
        return float(parts.mean() + 0.5 * self.c * d.dot(d))

    def plus_square(self, epsilon: float) -> Self:
        """f_i + (ε/2)‖x‖²: the same rows with c + ε, a linear model again."""
        other = copy(self)
        other.c = self.c + epsilon
        return other

    def spectrum(self, collective: Collective) -> Spectrum:
        """Spectrum of the mean of a aᵀ over all agents' rows; found once."""
        if self._spectrum is None:
            share = self.weight / collective.agents
            self._spectrum = mean_spectrum(self.G, share, collective, self.floor)
        return self._spectrum

    @cached_property
    def G(self) -> SecondMoment:
        """The mean of a aᵀ over the agent's rows."""
        return SecondMoment(self.A, self.shape[0])

    @property
    def floor(self) -> float | None:
        """What λ_d is added to, in c I + φ'' G: it has no part where φ'' may be 0."""
        low = self.curvatures[0]
        return self.c / low if low > 0 else inf

    def constants(self, collective: Collective) -> Constants:
        """Constants from the bounds of φ'' and the spectrum of the rows.

        The Hessian of a row is c I + φ'' a aᵀ, so its curvature lies between c and
        c + φ''‖a‖²; that of a mean of rows between c + φ'' λ_d and c + φ'' λ_1. The
        weight m n_i / N is part of f_ij and of f_i.
        """
        bottom, top = self._range(self.spectrum(collective))
        local = self._range(local_spectrum(self.G))
        low, high = self.curvatures
        norm = float(self.A.squared_norms().max())
        ends = [
            self.c + max(high, 0.0) * norm,
            -(self.c + min(low, 0.0) * norm),
            max(map(abs, local)),
            -min(local),
        ]
        largest = collective.max(self.weight * np.array(ends))
        l1, l2, L_local, sag = map(float, largest)
        constants = Constants(
            L=max(abs(bottom), abs(top)),
            l1=l1,
            l2=max(l1, l2),
            sigma=max(bottom, 0.0),
            L_local=L_local,
            mu_local=-sag,
            convex=l2 <= 0,
        )
        if not constants.usable:  # they will be refused; their squares may overflow
            return constants
        steepest = max(self.curvatures, key=abs)
        hessians = RowHessians(self.G, self.c, steepest, self.weight)
        differ = dissimilarity(hessians, collective, convex=constants.convex)
        measured: dict[str, Any] = differ._asdict()
        measured |= row_constants(self, self.weight, collective)
        return constants._replace(**measured)

    def _range(self, spectrum: Spectrum) -> tuple[float, float]:
        """Bounds of the curvature of c I + φ'' G."""
        low, high = self.curvatures
        bottom = low * (spectrum.smallest if low >= 0 else spectrum.largest)
        top = high * (spectrum.largest if high >= 0 else spectrum.smallest)
        return self.c + bottom, self.c + top


def labels_of(shard: Shard, problem: str) -> Array:
    """Return the labels, or say that the data have none."""
    if shard.labels is None:
        raise UserError(
            f"problem '{problem}' needs a label for each row, and the data have none; "
            "set [data] label_column, or use a source with labels (libsvm)"
        )
    return shard.labels
