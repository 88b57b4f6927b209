"""DESTRESS: SARAH epochs with mixing and agents that skip gradients at random."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.agent import Agent
from pmgt_mpi.algorithms.base import Setting
from pmgt_mpi.algorithms.svrg_parameters import resolve_rounds, resolve_step
from pmgt_mpi.algorithms.traits import Cost, Traits
from pmgt_mpi.algorithms.watching import mapping
from pmgt_mpi.options import (
    AUTO,
    SECTION,
    SQRT,
    AutoMixRounds,
    AutoStep,
    BatchSize,
    Period,
    Probability,
)

Array = NDArray[Any]
NAME = "destress"


@dataclass(frozen=True)
class State:
    """Variables of one agent after an outer iteration; s tracks the gradient at x."""

    x: Array
    s: Array
    grad_x: Array


@dataclass(frozen=True, kw_only=True)
class DESTRESS:
    r"""DESTRESS (Li, Li and Chi 2022), made for nonconvex F; smooth F only.

    One step is one outer iteration with S inner ones, λ ~ Bernoulli(p) drawn by every
    agent for itself::

        s^{k+1} = mix(s^k + ∇f_i(x^k) − ∇f_i(x^{k−1}), M)
        u^0 = x^k,  v^0 = s^{k+1}
        for t = 1, …, S:
            u^t = mix(u^{t−1} − α v^{t−1}, R)
            v^t = mix(v^{t−1} + (λ/p)(1/b) Σ_{j ∈ B} (∇f_ij(u^t) − ∇f_ij(u^{t−1})), R)
        x^{k+1} = u^S

    with s^0 = ∇f_i(x^{−1}) = 0: the first step makes s^1 = mix(∇f_i(x^0), M). The
    estimate after the last u is never used, so it is not made.

    Parameters
    ----------
    batch_size
        b.
    inner_steps
        S; ``auto`` is ⌈n/b⌉.
    activation
        p, how often an agent takes part in an inner step.
    step_size
        α; ``auto`` is that of PMGT-SVRG, times √p for the noise of λ/p.
    mix_rounds
        M; of the outer mix, by default that of the [mixing] section.
    inner_rounds
        R, of the inner mixes; likewise.

    References
    ----------
    B. Li, Z. Li and Y. Chi, "DESTRESS: Computation-Optimal and Communication-Efficient
    Decentralized Nonconvex Finite-Sum Optimization", SIAM J. Math. Data Science 4(3),
    2022.
    """

    traits: ClassVar[Traits] = Traits(
        source="Li, Li and Chi 2022",
        cost=Cost(gradients="n + 2*b*Λ", paper="n + b*Λ", rounds="M + (2*S - 1)*R"),
        letters=(("inner_steps", "S"), ("inner_rounds", "R")),
        instead="dearest",
        guarded=(
            "mix_rounds",
            "inner_rounds",
            "step_size",
        ),
    )

    batch_size: BatchSize = SQRT
    inner_steps: Period = AUTO
    activation: Probability = 1.0
    step_size: AutoStep = AUTO
    mix_rounds: AutoMixRounds = SECTION
    inner_rounds: AutoMixRounds = SECTION

    def init(self, agent: Agent, x0: Array) -> State:  # noqa: ARG002
        """s = ∇f_i(x^{−1}) = 0."""
        zero = np.zeros_like(x0)
        return State(x=x0, s=zero, grad_x=zero)

    def step(self, agent: Agent, k: State) -> State:
        """One outer iteration."""
        alpha, p, R = self.step_size, self.activation, self.inner_rounds
        g = agent.grad(k.x)
        s = agent.mix(k.s + g - k.grad_x, self.mix_rounds)
        v, u = s, agent.mix(k.x - alpha * s, R)
        u_old = k.x
        for _ in range(self.inner_steps - 1):
            if agent.own_coin(p):
                B = agent.minibatch(self.batch_size)
                v = v + agent.grad_difference(u, u_old, B) / p
            v = agent.mix(v, R)
            u_old, u = u, agent.mix(u - alpha * v, R)
        return State(x=u, s=s, grad_x=g)

    def solution(self, state: State) -> Array:
        """x."""
        return state.x

    def watched(self, agent: Agent, before: State, after: State) -> float:  # noqa: ARG002
        """The gradient mapping, of the tracked gradient."""
        return mapping(agent, after.x, after.s, self.step_size)

    def resolve(self, setting: Setting) -> Self:
        """b, S = ⌈n/b⌉, α for them, and M and R that keep the agents together."""
        b = setting.batch_size(NAME, self.batch_size)
        alpha = self.step_size
        if isinstance(alpha, str):
            alpha = resolve_step(NAME, alpha, setting, b) * sqrt(self.activation)
        return replace(
            self,
            batch_size=b,
            inner_steps=setting.period(self.inner_steps, b),
            step_size=alpha,
            mix_rounds=resolve_rounds(NAME, self.mix_rounds, setting, alpha),
            inner_rounds=resolve_rounds(NAME, self.inner_rounds, setting, alpha),
        )
