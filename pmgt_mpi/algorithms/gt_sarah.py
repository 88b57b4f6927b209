"""GT-SARAH: SARAH's estimates in gradient tracking, adapt then combine."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from numpy.typing import NDArray

from pmgt_mpi.agent import Agent
from pmgt_mpi.algorithms.base import Setting
from pmgt_mpi.algorithms.step_sizes import tracking_step
from pmgt_mpi.algorithms.traits import Cost, Traits
from pmgt_mpi.algorithms.watching import mapping
from pmgt_mpi.options import AUTO, SQRT, AutoStep, BatchSize, Period

Array = NDArray[Any]
NAME = "gt-sarah"


@dataclass(frozen=True)
class State:
    """Variables of one agent after k iterations: tracker t, estimate v."""

    k: int
    x: Array
    t: Array
    v: Array


@dataclass(frozen=True, kw_only=True)
class GTSARAH:
    r"""GT-SARAH (Xin, Khan and Kar 2022), made for nonconvex F; smooth F only.

    One step is one iteration::

        x^{k+1} = W(x^k − α t^k)
        v^{k+1} = ∇f_i(x^{k+1})  if q divides k+1, else
        v^{k+1} = v^k + (1/b) Σ_{j ∈ B} (∇f_ij(x^{k+1}) − ∇f_ij(x^k))
        t^{k+1} = W(t^k + v^{k+1} − v^k)

    with t^0 = v^0 = ∇f_i(x^0).

    Parameters
    ----------
    batch_size
        b.
    period
        q, the steps between full gradients; ``auto`` is ⌈n/b⌉.
    step_size
        α; ``auto`` is `tracking_step`.

    References
    ----------
    R. Xin, U. A. Khan and S. Kar, "Fast Decentralized Nonconvex Finite-Sum Optimization
    with Recursive Variance Reduction", SIAM J. Optimization 32(1), 2022.
    """

    traits: ClassVar[Traits] = Traits(
        source="Xin, Khan and Kar 2022",
        cost=Cost(
            gradients="n if (k+1) % q == 0 else 2*b",
            paper="n if (k+1) % q == 0 else b",
            rounds="2",
        ),
        letters=(("period", "q"),),
        instead="dearest",
        guarded=("step_size",),
    )

    batch_size: BatchSize = SQRT
    period: Period = AUTO
    step_size: AutoStep = AUTO

    def init(self, agent: Agent, x0: Array) -> State:
        """t = v = ∇f_i(x0)."""
        g = agent.grad(x0)
        return State(k=0, x=x0, t=g, v=g)

    def step(self, agent: Agent, s: State) -> State:
        """One iteration."""
        x = agent.gossip(s.x - self.step_size * s.t)
        if (s.k + 1) % self.period == 0:
            v = agent.grad(x)
        else:
            B = agent.minibatch(self.batch_size)
            v = s.v + agent.grad_difference(x, s.x, B)
        return State(k=s.k + 1, x=x, t=agent.gossip(s.t + v - s.v), v=v)

    def solution(self, state: State) -> Array:
        """x."""
        return state.x

    def watched(self, agent: Agent, before: State, after: State) -> float:  # noqa: ARG002
        """The gradient mapping, of the tracked gradient."""
        return mapping(agent, after.x, after.t, self.step_size)

    def resolve(self, setting: Setting) -> Self:
        """b, q = ⌈n/b⌉, and α that one round an iterate keeps stable."""
        b = setting.batch_size(NAME, self.batch_size)
        alpha = tracking_step(NAME, self.step_size, setting, b, adapt_first=True)
        q = setting.period(self.period, b)
        return replace(self, batch_size=b, period=q, step_size=alpha)
