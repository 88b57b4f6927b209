"""GT-SVRG: SVRG's estimates in gradient tracking, one round an iteration."""

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
NAME = "gt-svrg"


@dataclass(frozen=True)
class State:
    """Variables of one agent after k iterations: tracker t, estimate v, snapshot w."""

    k: int
    x: Array
    t: Array
    v: Array
    w: Array
    mu: Array


@dataclass(frozen=True, kw_only=True)
class GTSVRG:
    r"""GT-SVRG (Xin, Khan and Kar 2020), smooth F only.

    One step is one iteration::

        x^{k+1} = W x^k − α t^k
        w = x^{k+1}, μ = ∇f_i(w)  if q divides k+1
        v^{k+1} = μ + (1/b) Σ_{j ∈ B} (∇f_ij(x^{k+1}) − ∇f_ij(w))
        t^{k+1} = W t^k + v^{k+1} − v^k

    with w = x^0 and t^0 = v^0 = μ = ∇f_i(x^0). W x and W t travel in one message.

    Parameters
    ----------
    batch_size
        b; 1 in the paper.
    period
        q, the steps between full gradients; ``auto`` is ⌈n/b⌉.
    step_size
        α; ``auto`` is `tracking_step`.

    References
    ----------
    R. Xin, U. A. Khan and S. Kar, "Variance-Reduced Decentralized Stochastic
    Optimization with Accelerated Convergence", IEEE Trans. Signal Processing 68, 2020.
    """

    traits: ClassVar[Traits] = Traits(
        source="Xin, Khan and Kar 2020",
        cost=Cost(
            gradients="2*b + n*((k+1) % q == 0)",
            paper="b + n*((k+1) % q == 0)",
            rounds="1",
            vectors=2,
        ),
        letters=(("period", "q"),),
        instead="pmgt-svrg",
        convex="components",
        guarded=("step_size",),
    )

    batch_size: BatchSize = SQRT
    period: Period = AUTO
    step_size: AutoStep = AUTO

    def init(self, agent: Agent, x0: Array) -> State:
        """t = v = μ = ∇f_i(x0)."""
        g = agent.grad(x0)
        return State(k=0, x=x0, t=g, v=g, w=x0, mu=g)

    def step(self, agent: Agent, s: State) -> State:
        """One iteration."""
        W_x, W_t = agent.gossip_together(s.x, s.t)
        x = W_x - self.step_size * s.t
        w, mu = s.w, s.mu
        if (s.k + 1) % self.period == 0:
            w, mu = x, agent.grad(x)
        B = agent.minibatch(self.batch_size)
        v = mu + agent.grad_difference(x, w, B)
        return State(k=s.k + 1, x=x, t=W_t + v - s.v, v=v, w=w, mu=mu)

    def solution(self, state: State) -> Array:
        """x."""
        return state.x

    def watched(self, agent: Agent, before: State, after: State) -> float:  # noqa: ARG002
        """The gradient mapping, of the tracked gradient."""
        return mapping(agent, after.x, after.t, self.step_size)

    def resolve(self, setting: Setting) -> Self:
        """b, q = ⌈n/b⌉, and α that one round an iteration keeps stable."""
        b = setting.batch_size(NAME, self.batch_size)
        alpha = tracking_step(NAME, self.step_size, setting, b, adapt_first=False)
        q = setting.period(self.period, b)
        return replace(self, batch_size=b, period=q, step_size=alpha)
