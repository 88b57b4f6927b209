"""Network-DANE: a minimisation on every agent between two mixes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.agent import Agent
from pmgt_mpi.algorithms.base import Setting
from pmgt_mpi.algorithms.network_svrg import State, mixed_and_tracked
from pmgt_mpi.algorithms.step_sizes import surrogate_step
from pmgt_mpi.algorithms.svrg_parameters import AUTO_CONTRACTION, resolve_rounds
from pmgt_mpi.algorithms.traits import Cost, Traits
from pmgt_mpi.options import AUTO, SECTION, AutoMixRounds, AutoStep, Count

Array = NDArray[Any]
NAME = "network-dane"


@dataclass(frozen=True, kw_only=True)
class NetworkDANE:
    r"""Network-DANE (Li, Cen, Chen and Chi 2020), smooth F only.

    One step is one outer iteration. Both mixes share their messages::

        y^{k+1} = FastMix(x^k, M)
        s^{k+1} = FastMix(s^k, M) + ∇f_i(y^{k+1}) − ∇f_i(y^k)
        x^{k+1} ≈ argmin_z f_i(z) − ⟨∇f_i(y^{k+1}) − s^{k+1}, z⟩ + ‖z − y^{k+1}‖²/(2η)

    with s^1 = ∇f_i(y^1). The minimisation takes S steps of Nesterov's method from
    y^{k+1}, with step β and momentum (1 − √(β/η))/(1 + √(β/η)): its first gradient is
    s^{k+1}. As in Network-SVRG agents must not go further apart than the f_i allow.

    Parameters
    ----------
    inner_steps
        S.
    step_size
        η, 1/μ in the paper; ``auto`` is `surrogate_step`.
    inner_step_size
        β; ``auto`` is 1/(L_local + 1/η).
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
        cost=Cost(gradients="n*S", paper="n*S", rounds="M", vectors=2),
        letters=(("inner_steps", "S"),),
        instead="pmgt-svrg",
        convex="agents",
    )

    inner_steps: Count = 5
    step_size: AutoStep = AUTO
    inner_step_size: AutoStep = AUTO
    mix_rounds: AutoMixRounds = SECTION

    def init(self, agent: Agent, x0: Array) -> State:  # noqa: ARG002
        """s = 0 and no gradient: after the first step s is the gradient at y^1."""
        return State(x=x0, s=np.zeros_like(x0), grad_y=np.zeros_like(x0))

    def step(self, agent: Agent, k: State) -> State:
        """One outer iteration."""
        eta, beta = self.step_size, self.inner_step_size
        momentum = (1 - sqrt(beta / eta)) / (1 + sqrt(beta / eta))
        y, s, g = mixed_and_tracked(agent, k, self.mix_rounds)
        z = y - beta * s
        u = z + momentum * (z - y)
        for _ in range(self.inner_steps - 1):
            slope = agent.grad(u) - g + s + (u - y) / eta
            z_old, z = z, u - beta * slope
            u = z + momentum * (z - z_old)
        return State(x=z, s=s, grad_y=g)

    def solution(self, state: State) -> Array:
        """x."""
        return state.x

    def resolve(self, setting: Setting) -> Self:
        """η that keeps the agents near each other, β for it, and M."""
        eta, beta = self.step_size, self.inner_step_size
        eta = surrogate_step(NAME, eta, setting)
        if isinstance(beta, str):
            c = setting.needed_constants(NAME, "inner_step_size", beta)
            beta = 1 / (c.L_local + 1 / eta)
        rho = AUTO_CONTRACTION
        M = resolve_rounds(NAME, self.mix_rounds, setting, eta, auto_rho=rho)
        return replace(self, step_size=eta, inner_step_size=beta, mix_rounds=M)
