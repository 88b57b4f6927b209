"""PG-EXTRA: exact first-order method with a proximal step, full gradients."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.agent import Agent
from pmgt_mpi.algorithms.base import Setting
from pmgt_mpi.algorithms.step_sizes import extra_step
from pmgt_mpi.algorithms.traits import Cost, Traits
from pmgt_mpi.algorithms.watching import movement
from pmgt_mpi.options import AUTO, StepSize

Array = NDArray[Any]
NAME = "pg-extra"


@dataclass(frozen=True)
class State:
    """Variables of one agent after k iterations; `Wt_x` is W̃ x^{k−1}."""

    x: Array
    h: Array
    Wt_x: Array
    grad_x: Array


@dataclass(frozen=True, kw_only=True)
class PGExtra:
    r"""PG-EXTRA (Shi, Ling, Wu and Yin 2015).

    One step is one iteration, with W̃ = (I + W)/2::

        h^{k+1} = h^k + W x^k − W̃ x^{k−1} − α (∇f_i(x^k) − ∇f_i(x^{k−1}))
        x^{k+1} = prox_α(h^{k+1})

    where at k = 0 the terms with h^0 and x^{−1} are absent. W̃ x^{k−1} is known from the
    round before, so a step costs one round and n_i component gradients; both depend on
    x^k only, and take place at once.

    Parameters
    ----------
    step_size
        α. For convex f_i it must lie below 2 λ_min(W̃) / L, L the largest smoothness
        of an f_i: ``theory`` is half of that. ``auto`` is 0.95 (5 + 3 λ_min(W))/(4 L)
        (`extra_step`), and less where an f_i is not convex (`Setting.bold_step`).

    References
    ----------
    W. Shi, Q. Ling, G. Wu and W. Yin, "A Proximal Gradient Algorithm for Decentralized
    Composite Optimization", IEEE Trans. Signal Processing 63(22), 2015.
    """

    traits: ClassVar[Traits] = Traits(
        source="Shi, Ling, Wu and Yin 2015",
        cost=Cost(gradients="n", paper="n", rounds="1"),
        proximal=True,
        convex="agents",
        guarded=("step_size",),
    )

    step_size: StepSize = AUTO

    def init(self, agent: Agent, x0: Array) -> State:  # noqa: ARG002
        """Everything before x0 is zero, so that the first step is like any other."""
        zero = np.zeros_like(x0)
        return State(x=x0, h=zero, Wt_x=zero, grad_x=zero)

    def step(self, agent: Agent, k: State) -> State:
        """One iteration."""
        alpha = self.step_size
        under_way = agent.start_gossip(k.x)
        g = agent.grad(k.x)
        W_x = under_way.wait()
        h = k.h + W_x - k.Wt_x - alpha * (g - k.grad_x)
        return State(x=agent.prox(h, alpha), h=h, Wt_x=(k.x + W_x) / 2, grad_x=g)

    def solution(self, state: State) -> Array:
        """x."""
        return state.x

    def watched(self, agent: Agent, before: State, after: State) -> float:  # noqa: ARG002
        """‖x^{k+1} − W̃ x^k‖/α."""
        return movement(after.Wt_x, after.x, self.step_size)

    def rescaled(self, agent: Agent, k: State, ratio: float) -> State:
        """Take the last step again with an α that is `ratio` times as large.

        h^k = W̃ x^{k−1} − α ∇f_i(x^{k−1}) − α d_i, where the d_i sum up to zero over the
        agents: the last two terms are in proportion to α.
        """
        h = k.Wt_x + ratio * (k.h - k.Wt_x)
        return replace(k, h=h, x=agent.prox(h, self.step_size))

    def resolve(self, setting: Setting) -> Self:
        """α near the largest that is stable for convex f_i."""
        return replace(self, step_size=extra_step(NAME, self.step_size, setting))
