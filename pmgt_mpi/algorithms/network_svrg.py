"""Network-SVRG: SVRG on every agent between two mixes, with a tracked gradient."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.agent import Agent
from pmgt_mpi.algorithms.base import Setting
from pmgt_mpi.algorithms.step_sizes import local_step
from pmgt_mpi.algorithms.svrg_parameters import resolve_rounds
from pmgt_mpi.algorithms.traits import Cost, Traits
from pmgt_mpi.options import (
    AUTO,
    SECTION,
    SQRT,
    AutoMixRounds,
    AutoStep,
    BatchSize,
    Period,
)

Array = NDArray[Any]
NAME = "network-svrg"


@dataclass(frozen=True)
class State:
    """Variables of one agent; s tracks the gradient at y."""

    x: Array
    s: Array
    grad_y: Array


@dataclass(frozen=True, kw_only=True)
class NetworkSVRG:
    r"""Network-SVRG (Li, Cen, Chen and Chi 2020), smooth F only.

    One step is one outer iteration. Both mixes share their messages, and the S inner
    steps send nothing::

        y^{k+1} = FastMix(x^k, M)
        s^{k+1} = FastMix(s^k, M) + ∇f_i(y^{k+1}) − ∇f_i(y^k)
        u^0 = y^{k+1},  v^0 = s^{k+1}
        for t = 0, …, S − 1:
            u^{t+1} = u^t − α v^t
            v^{t+1} = s^{k+1} + (1/b) Σ_{j ∈ B} (∇f_ij(u^{t+1}) − ∇f_ij(y^{k+1}))
        x^{k+1} = u^S

    with s^1 = ∇f_i(y^1); v^S is not asked for. Within a step every agent goes towards a
    minimiser of its own: S α must be small against how much the f_i differ.

    Parameters
    ----------
    batch_size
        b; 1 in the paper.
    inner_steps
        S; ``auto`` is ⌈n/b⌉, a pass over the rows.
    step_size
        α; ``auto`` is `local_step`.
    mix_rounds
        M; by default that of the [mixing] section.

    References
    ----------
    B. Li, S. Cen, Y. Chen and Y. Chi, "Communication-Efficient Distributed Optimization
    in Networks with Gradient Tracking and Variance Reduction", J. Machine Learning
    Research 21(180), 2020.
    """

    traits: ClassVar[Traits] = Traits(
        source="Li, Cen, Chen and Chi 2020",
        cost=Cost(
            gradients="n + 2*b*(S-1)", paper="n + b*(S-1)", rounds="M", vectors=2
        ),
        letters=(("inner_steps", "S"),),
        instead="pmgt-svrg",
        convex="components",
    )

    batch_size: BatchSize = SQRT
    inner_steps: Period = AUTO
    step_size: AutoStep = AUTO
    mix_rounds: AutoMixRounds = SECTION

    def init(self, agent: Agent, x0: Array) -> State:  # noqa: ARG002
        """s = 0 and no gradient: after the first step s is the gradient at y^1."""
        return State(x=x0, s=np.zeros_like(x0), grad_y=np.zeros_like(x0))

    def step(self, agent: Agent, k: State) -> State:
        """One outer iteration."""
        y, s, g = mixed_and_tracked(agent, k, self.mix_rounds)
        u = y - self.step_size * s
        for _ in range(self.inner_steps - 1):
            B = agent.minibatch(self.batch_size)
            u = u - self.step_size * (s + agent.grad_difference(u, y, B))
        return State(x=u, s=s, grad_y=g)

    def solution(self, state: State) -> Array:
        """x."""
        return state.x

    def resolve(self, setting: Setting, name: str = NAME) -> Self:
        """b, S, α that keeps the inner steps near each other, and M."""
        b = setting.batch_size(name, self.batch_size)
        S = setting.period(self.inner_steps, b)
        alpha = local_step(name, self.step_size, setting, b, S)
        M = resolve_rounds(name, self.mix_rounds, setting, alpha)
        return replace(self, batch_size=b, inner_steps=S, step_size=alpha, mix_rounds=M)


def mixed_and_tracked(agent: Agent, k: State, M: int) -> tuple[Array, Array, Array]:
    """y^{k+1}, s^{k+1} and ∇f_i(y^{k+1}): so every Network-* method begins a step."""
    y, W_s = agent.mix_together(M, k.x, k.s)
    g = agent.grad(y)
    return y, W_s + g - k.grad_y, g
