"""GT-SAGA: SAGA's estimates in gradient tracking."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from numpy.typing import NDArray

from pmgt_mpi.agent import Agent
from pmgt_mpi.algorithms.base import Setting
from pmgt_mpi.algorithms.step_sizes import tracking_step
from pmgt_mpi.algorithms.traits import Cost, Traits
from pmgt_mpi.algorithms.watching import mapping
from pmgt_mpi.options import AUTO, SQRT, AutoStep, BatchSize

Array = NDArray[Any]
NAME = "gt-saga"


@dataclass(frozen=True)
class State:
    """Variables of one agent: tracker t, estimate v; `table`, `mean` are SAGA's."""

    x: Array
    t: Array
    v: Array
    table: Array
    mean: Array


@dataclass(frozen=True, kw_only=True)
class GTSAGA:
    r"""GT-SAGA (Xin, Khan and Kar 2020), smooth F only.

    One step is one iteration, with v^k SAGA's estimate of ∇f_i(x^k) from b rows
    (`Agent.saga`)::

        x^{k+1} = W(x^k − α t^k)
        t^{k+1} = W(t^k + v^{k+1} − v^k)

    with t^0 = v^0 = ∇f_i(x^0).

    Parameters
    ----------
    batch_size
        b; 1 in the paper.
    step_size
        α; ``auto`` is `tracking_step`.

    References
    ----------
    R. Xin, U. A. Khan and S. Kar, "Variance-Reduced Decentralized Stochastic
    Optimization with Accelerated Convergence", IEEE Trans. Signal Processing 68, 2020.
    """

    traits: ClassVar[Traits] = Traits(
        source="Xin, Khan and Kar 2020",
        cost=Cost(gradients="b", paper="b", rounds="2"),
        instead="pmgt-saga",
        remembers=True,
        convex="components",
        guarded=("step_size",),
    )

    batch_size: BatchSize = SQRT
    step_size: AutoStep = AUTO

    def init(self, agent: Agent, x0: Array) -> State:
        """t = v = ∇f_i(x0), of the rows' gradients that are remembered."""
        g, table, mean = agent.remember(x0)
        return State(x=x0, t=g, v=g, table=table, mean=mean)

    def step(self, agent: Agent, k: State) -> State:
        """One iteration."""
        x = agent.gossip(k.x - self.step_size * k.t)
        B = agent.minibatch(self.batch_size)
        v, mean = agent.saga(x, B, k.table, k.mean)
        t = agent.gossip(k.t + v - k.v)
        return State(x=x, t=t, v=v, table=k.table, mean=mean)

    def solution(self, state: State) -> Array:
        """x."""
        return state.x

    def watched(self, agent: Agent, before: State, after: State) -> float:  # noqa: ARG002
        """The gradient mapping, of the tracked gradient."""
        return mapping(agent, after.x, after.t, self.step_size)

    def resolve(self, setting: Setting) -> Self:
        """b, and α that one round an iterate keeps stable."""
        b = setting.batch_size(NAME, self.batch_size)
        alpha = tracking_step(NAME, self.step_size, setting, b, adapt_first=True)
        return replace(self, batch_size=b, step_size=alpha)
