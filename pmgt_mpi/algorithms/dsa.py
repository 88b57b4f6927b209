"""DSA: EXTRA with SAGA's estimates of the gradient."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.agent import Agent
from pmgt_mpi.algorithms.base import Setting
from pmgt_mpi.algorithms.step_sizes import dsa_step
from pmgt_mpi.algorithms.traits import Cost, Traits
from pmgt_mpi.algorithms.watching import movement
from pmgt_mpi.options import AUTO, SQRT, AutoStep, BatchSize

Array = NDArray[Any]
NAME = "dsa"


@dataclass(frozen=True)
class State:
    """Variables of one agent; `Wt_x` is W̃ x^{k−1}, `table` and `mean` are SAGA's."""

    x: Array
    Wt_x: Array
    v: Array
    table: Array
    mean: Array


@dataclass(frozen=True, kw_only=True)
class DSA:
    r"""DSA (Mokhtari and Ribeiro 2016), the first with variance reduction; smooth F.

    One step is one iteration, with W̃ = (I + W)/2 and v^k SAGA's estimate of ∇f_i(x^k)
    from b rows (`Agent.saga`)::

        x^1 = W x^0 − α v^0
        x^{k+1} = x^k + W x^k − W̃ x^{k−1} − α (v^k − v^{k−1})

    Parameters
    ----------
    batch_size
        b; 1 in the paper.
    step_size
        α; ``auto`` is EXTRA's with the smoothness that a minibatch has.

    References
    ----------
    A. Mokhtari and A. Ribeiro, "DSA: Decentralized Double Stochastic Averaging Gradient
    Algorithm", J. Machine Learning Research 17, 2016.
    """

    traits: ClassVar[Traits] = Traits(
        source="Mokhtari and Ribeiro 2016",
        cost=Cost(gradients="b", paper="b", rounds="1"),
        instead="pmgt-saga",
        remembers=True,
        convex="components",
        guarded=("step_size",),
    )

    batch_size: BatchSize = SQRT
    step_size: AutoStep = AUTO

    def init(self, agent: Agent, x0: Array) -> State:
        """W̃ x^{−1} = x^0, v^{−1} = 0, and the gradients at x^0 are remembered."""
        _, table, mean = agent.remember(x0)
        return State(x=x0, Wt_x=x0, v=np.zeros_like(x0), table=table, mean=mean)

    def step(self, agent: Agent, k: State) -> State:
        """One iteration."""
        under_way = agent.start_gossip(k.x)
        B = agent.minibatch(self.batch_size)
        v, mean = agent.saga(k.x, B, k.table, k.mean)
        W_x = under_way.wait()
        x = k.x + W_x - k.Wt_x - self.step_size * (v - k.v)
        return State(x=x, Wt_x=(k.x + W_x) / 2, v=v, table=k.table, mean=mean)

    def solution(self, state: State) -> Array:
        """x."""
        return state.x

    def watched(self, agent: Agent, before: State, after: State) -> float:  # noqa: ARG002
        """‖x^{k+1} − W̃ x^k‖/α."""
        return movement(after.Wt_x, after.x, self.step_size)

    def rescaled(self, agent: Agent, k: State, ratio: float) -> State:  # noqa: ARG002
        """Take the last step again with an α that is `ratio` times as large.

        As for EXTRA, whose gradients are estimates here.
        """
        return replace(k, x=k.Wt_x + ratio * (k.x - k.Wt_x))

    def resolve(self, setting: Setting) -> Self:
        """b, and α for it."""
        b = setting.batch_size(NAME, self.batch_size)
        alpha = dsa_step(NAME, self.step_size, setting, b)
        return replace(self, batch_size=b, step_size=alpha)
