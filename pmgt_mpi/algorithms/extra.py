"""EXTRA: the exact first-order method that the others grew from."""

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
NAME = "extra"


@dataclass(frozen=True)
class State:
    """Variables of one agent after k iterations; `Wt_x` is W̃ x^{k−1}."""

    x: Array
    Wt_x: Array
    grad_x: Array


@dataclass(frozen=True, kw_only=True)
class Extra:
    r"""EXTRA (Shi, Ling, Wu and Yin 2015): exact, with full gradients, smooth F only.

    One step is one iteration, with W̃ = (I + W)/2::

        x^1 = W x^0 − α ∇f_i(x^0)
        x^{k+1} = x^k + W x^k − W̃ x^{k−1} − α (∇f_i(x^k) − ∇f_i(x^{k−1}))

    W̃ x^{k−1} is known from the round before, so a step costs one round. It takes place
    while the gradient is computed: both depend on x^k only.

    Parameters
    ----------
    step_size
        α; below 2 λ_min(W̃)/L for convex f_i; ``theory`` and ``auto`` as for PG-EXTRA.

    References
    ----------
    W. Shi, Q. Ling, G. Wu and W. Yin, "EXTRA: An Exact First-Order Algorithm for
    Decentralized Consensus Optimization", SIAM J. Optimization 25(2), 2015.
    """

    traits: ClassVar[Traits] = Traits(
        source="Shi, Ling, Wu and Yin 2015",
        cost=Cost(gradients="n", paper="n", rounds="1"),
        instead="pg-extra",
        convex="agents",
        guarded=("step_size",),
    )

    step_size: StepSize = AUTO

    def init(self, agent: Agent, x0: Array) -> State:  # noqa: ARG002
        """W̃ x^{−1} = x^0 and no gradient, so that the first step is like any other."""
        return State(x=x0, Wt_x=x0, grad_x=np.zeros_like(x0))

    def step(self, agent: Agent, k: State) -> State:
        """One iteration."""
        under_way = agent.start_gossip(k.x)
        g = agent.grad(k.x)
        W_x = under_way.wait()
        x = k.x + W_x - k.Wt_x - self.step_size * (g - k.grad_x)
        return State(x=x, Wt_x=(k.x + W_x) / 2, grad_x=g)

    def solution(self, state: State) -> Array:
        """x."""
        return state.x

    def watched(self, agent: Agent, before: State, after: State) -> float:  # noqa: ARG002
        """‖x^{k+1} − W̃ x^k‖/α."""
        return movement(after.Wt_x, after.x, self.step_size)

    def rescaled(self, agent: Agent, k: State, ratio: float) -> State:  # noqa: ARG002
        """Take the last step again with an α that is `ratio` times as large.

        x^k = W̃ x^{k−1} − α ∇f_i(x^{k−1}) − α d_i, where the d_i sum up to zero over the
        agents: the last two terms are in proportion to α.
        """
        return replace(k, x=k.Wt_x + ratio * (k.x - k.Wt_x))

    def resolve(self, setting: Setting) -> Self:
        """α near the largest that is stable for convex f_i."""
        return replace(self, step_size=extra_step(NAME, self.step_size, setting))
