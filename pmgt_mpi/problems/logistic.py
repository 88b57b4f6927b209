"""Logistic regression."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.data.shard import Shard
from pmgt_mpi.errors import UserError
from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.options import Strength
from pmgt_mpi.problems.linear import LinearModel, labels_of

Array = NDArray[Any]

SHOWN = 10
"""How many label values a message lists."""


class Logistic(LinearModel):
    """Logistic regression: f_ij(x) = log(1 + exp(−y_ij ⟨a_ij, x⟩)) + (l2/2)‖x‖².

    Labels are mapped to y = ±1.

    Parameters
    ----------
    l2
        Coefficient of ½‖x‖², part of f.
    positive
        The label that is +1, all others being −1. Without it the data must have two
        label values, and the larger is +1.
    """

    curvatures: ClassVar[tuple[float, float]] = (0.0, 0.25)

    def __init__(
        self,
        shard: Shard,
        collective: Collective,
        *,
        l2: Strength = 0.0,
        positive: float | None = None,
    ) -> None:
        y = signs_of(shard, collective, positive)
        super().__init__(shard, c=l2, y=y)

    def loss(self, z: Array, y: Array | float) -> Array:
        """log(1 + exp(−yz))."""
        return np.logaddexp(0.0, -y * z)

    def slope(self, z: Array, y: Array | float) -> Array:
        """−y s(−yz) = (tanh(z/2) − y)/2, with s the sigmoid and y = ±1."""
        out = np.tanh(0.5 * z)
        out -= y
        out *= 0.5
        return out

    def curvature(self, z: Array, y: Array | float) -> Array:  # noqa: ARG002
        """s(z) s(−z)."""
        return sigmoid(z) * sigmoid(-z)

    def divergence(self, delta: Array, z: Array, y: Array | float) -> Array:
        """log(q e^{pδ} + p e^{−qδ}) with p = s(−yz), q = 1 − p and δ in units of y.

        Written with e²(u) = e^u − 1 − u it is log1p(q e²(pδ) + p e²(−qδ)): a sum of
        what is never negative, where the definition subtracts nearly equal numbers.
        """
        t, step = y * z, y * delta
        p, q = sigmoid(-t), sigmoid(t)
        far = np.abs(step) > 700.0  # where exp would overflow
        near = np.where(far, 0.0, step)
        exact: Array = np.log1p(q * expm2(p * near) + p * expm2(-q * near))
        if not far.any():
            return exact
        plain = np.logaddexp(0.0, -t - step) - np.logaddexp(0.0, -t) + p * step
        return np.where(far, plain, exact)


def signs_of(shard: Shard, collective: Collective, positive: float | None) -> Array:
    """Map the labels to ±1: `positive`, or the larger of two values, is +1.

    Which values there are is agreed by all agents: a shard may hold only one.
    """
    labels = labels_of(shard, "logistic")
    # One more than is shown tells that there are more; a column of real numbers
    # taken for labels must not travel whole.
    own = np.unique(labels)[: SHOWN + 1]
    if positive is not None and positive in labels:
        own = np.union1d(own, [positive])
    found = np.unique(np.concatenate(collective.gather(own)))
    names = ", ".join(f"{value:g}" for value in found[:SHOWN])
    names += ", …" if len(found) > SHOWN else ""
    if positive is not None:
        if positive not in found or len(found) < 2:
            raise UserError(
                f"[problem] positive = {positive:g}: expected one of at least two "
                f"label values, and the data have {names}"
            )
        return np.where(labels == positive, 1.0, -1.0)
    if len(found) != 2:
        raise UserError(
            f"problem 'logistic' needs two label values, and the data have {names}; "
            "set [problem] positive to the label that is to stand against the rest"
        )
    return np.where(labels == found[1], 1.0, -1.0)


def sigmoid(t: Array) -> Array:
    """1 / (1 + e^{−t}), to full relative precision and without overflow."""
    e = np.exp(-np.abs(t))
    return np.where(t < 0, e, 1.0) / (1.0 + e)


def expm2(u: Array) -> Array:
    """e^u − 1 − u, to full relative precision."""
    near = np.abs(u) < 1.0
    v = np.where(near, u, 0.0)
    series = np.zeros_like(v)
    for k in range(18, 1, -1):  # Horner: v²/2! + v³/3! + … + v¹⁸/18!
        series = (1.0 + series) * (v / k)
    # The loop leaves v/2 + v²/(2·3) + …: one factor v is missing.
    return np.where(near, v * series, np.expm1(u) - u)
