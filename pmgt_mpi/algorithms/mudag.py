"""Mudag: Nesterov's method with gradient tracking and multi-consensus."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt
from typing import Any, ClassVar, Self

from numpy.typing import NDArray

from pmgt_mpi.agent import Agent
from pmgt_mpi.algorithms.base import Setting
from pmgt_mpi.algorithms.svrg_parameters import resolve_rounds
from pmgt_mpi.algorithms.traits import Cost, Traits
from pmgt_mpi.options import AUTO, SECTION, AutoMixRounds, Chance, StepSize

Array = NDArray[Any]
NAME = "mudag"


@dataclass(frozen=True)
class State:
    """Variables of one agent after k iterations; s tracks the gradient at y."""

    x: Array
    y: Array
    s: Array
    grad_y: Array


@dataclass(frozen=True, kw_only=True)
class Mudag:
    r"""Mudag (Ye, Luo, Zhou and Zhang 2020), with a proximal step.

    One step is one iteration::

        x^{k+1} = FastMix(prox_η(y^k − η s^k), M)
        y^{k+1} = x^{k+1} + (1 − τ)/(1 + τ) (x^{k+1} − x^k)
        s^{k+1} = FastMix(s^k + ∇f_i(y^{k+1}) − ∇f_i(y^k), M)

    with y^0 = x^0 and s^0 = FastMix(∇f_i(x^0), M). Only the whole F need be convex.

    Parameters
    ----------
    step_size
        η; ``auto`` and ``theory`` are 1/L, L the smoothness of the mean f.
    momentum
        τ, α in the paper; ``auto`` is its √(ησ).
    mix_rounds
        M; by default that of the [mixing] section.

    References
    ----------
    H. Ye, L. Luo, Z. Zhou and T. Zhang, "Multi-Consensus Decentralized Accelerated
    Gradient Descent", J. Machine Learning Research 24, 2023 (first in 2020). With prox:
    H. Ye, Z. Zhou, L. Luo and T. Zhang, "Decentralized Accelerated Proximal Gradient
    Descent", NeurIPS 2020.
    """

    traits: ClassVar[Traits] = Traits(
        source="Ye, Luo, Zhou and Zhang 2020",
        cost=Cost(gradients="n", paper="n", rounds="2*M"),
        proximal=True,
        psd=True,
    )

    step_size: StepSize = AUTO
    momentum: Chance = AUTO
    mix_rounds: AutoMixRounds = SECTION

    def init(self, agent: Agent, x0: Array) -> State:
        """x = y = x0; the tracker starts from the mixed local gradients."""
        g = agent.grad(x0)
        return State(x=x0, y=x0, s=agent.mix(g, self.mix_rounds), grad_y=g)

    def step(self, agent: Agent, k: State) -> State:
        """One iteration."""
        eta, tau, M = self.step_size, self.momentum, self.mix_rounds
        x = agent.mix(agent.prox(k.y - eta * k.s, eta), M)
        y = x + (1 - tau) / (1 + tau) * (x - k.x)
        g = agent.grad(y)
        return State(x=x, y=y, s=agent.mix(k.s + g - k.grad_y, M), grad_y=g)

    def solution(self, state: State) -> Array:
        """x."""
        return state.x

    def resolve(self, setting: Setting) -> Self:
        """η = 1/L, τ = √(ησ), and M that keeps the agents together."""
        eta, tau = self.step_size, self.momentum
        if isinstance(eta, str):
            eta = 1 / setting.needed_curvature(NAME, "step_size", eta).L
        if isinstance(tau, str):
            tau = min(1.0, sqrt(eta * setting.convexity(NAME, "momentum", tau)))
        M = resolve_rounds(NAME, self.mix_rounds, setting, eta)
        return replace(self, step_size=eta, momentum=tau, mix_rounds=M)
