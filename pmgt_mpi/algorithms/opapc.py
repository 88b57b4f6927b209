"""OPAPC: optimal in gradients and rounds for convex f_i."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.agent import Agent
from pmgt_mpi.algorithms.base import NO_CONVEXITY, Setting
from pmgt_mpi.algorithms.svrg_parameters import AUTO_CONTRACTION, resolve_rounds
from pmgt_mpi.algorithms.traits import Cost, Traits
from pmgt_mpi.errors import UserError
from pmgt_mpi.options import AUTO, SECTION, AutoMixRounds, AutoStep, Chance, StepSize

Array = NDArray[Any]
NAME = "opapc"


@dataclass(frozen=True)
class State:
    """Variables of one agent; z is the dual one, −∇f_i(x*) + μ x* in the end."""

    x: Array
    x_f: Array
    z: Array


@dataclass(frozen=True, kw_only=True)
class OPAPC:
    r"""OPAPC (Kovalev, Salim and Richtárik 2020), smooth F only.

    One step is one iteration, with G = ∇f_i(x_g) − μ x_g::

        x_g = τ x^k + (1 − τ) x_f^k
        h = (x^k − η (G + z^k))/(1 + ημ)
        z^{k+1} = z^k + (θ/η) (h − FastMix(h, M))
        x^{k+1} = (x^k − η (G + z^{k+1}))/(1 + ημ)
        x_f^{k+1} = x_g + (2τ/(2 − τ)) (x^{k+1} − x^k)

    with x_f^0 = x^0 and z^0 = 0. M = 1 is APAPC. z remembers every rounding error: on a
    problem with curvatures of 1 to 1/78, 4e5 steps left 1e-10 in x.

    Parameters
    ----------
    step_size
        η; ``auto`` and ``theory`` are 1/(4τL), L that of the worst f_i.
    momentum
        τ; ``auto`` is the paper's min(1, ½ √(c μ/L)), c = (1 − ρ)/(1 + ρ), ρ that to
        which M rounds contract.
    dual_step
        θ, in the paper's letters ηθ; ``auto`` is its 1/(1 + ρ).
    convexity
        μ, of the worst f_i; ``auto`` is that, or σ of the mean where an f_i has none.
    mix_rounds
        M; by default that of the [mixing] section.

    References
    ----------
    D. Kovalev, A. Salim and P. Richtárik, "Optimal and Practical Algorithms for Smooth
    and Strongly Convex Decentralized Optimization", NeurIPS 2020.
    """

    traits: ClassVar[Traits] = Traits(
        source="Kovalev, Salim and Richtárik 2020",
        cost=Cost(gradients="n", paper="n", rounds="M"),
        instead="mudag",
        convex="agents",
    )

    step_size: StepSize = AUTO
    momentum: Chance = AUTO
    dual_step: Chance = AUTO
    convexity: AutoStep = AUTO
    mix_rounds: AutoMixRounds = SECTION

    def init(self, agent: Agent, x0: Array) -> State:  # noqa: ARG002
        """x_f = x0 and z = 0."""
        return State(x=x0, x_f=x0, z=np.zeros_like(x0))

    def step(self, agent: Agent, k: State) -> State:
        """One iteration."""
        eta, tau, theta, mu = (
            self.step_size, self.momentum, self.dual_step, self.convexity
        )  # fmt: skip
        x_g = tau * k.x + (1 - tau) * k.x_f
        G = agent.grad(x_g) - mu * x_g
        h = (k.x - eta * (G + k.z)) / (1 + eta * mu)
        z = k.z + theta / eta * (h - agent.mix(h, self.mix_rounds))
        x = (k.x - eta * (G + z)) / (1 + eta * mu)
        x_f = x_g + 2 * tau / (2 - tau) * (x - k.x)
        return State(x=x, x_f=x_f, z=z)

    def solution(self, state: State) -> Array:
        """x."""
        return state.x

    def resolve(self, setting: Setting) -> Self:
        """The paper's parameters, from L and μ of the worst f_i and the mix."""
        eta, tau, theta = self.step_size, self.momentum, self.dual_step
        M = resolve_rounds(
            NAME, self.mix_rounds, setting, 0.0, auto_rho=AUTO_CONTRACTION
        )
        if isinstance(eta, str):
            setting.needed_curvature(NAME, "step_size", eta)
        mu = convexity_of_worst(NAME, self.convexity, setting)
        if isinstance(tau, str):
            L = setting.needed_curvature(NAME, "momentum", tau).L_local
            rho = contraction_below_1(NAME, setting, M)
            tau = min(1.0, 0.5 * sqrt((1 - rho) / (1 + rho) * mu / L))
        if isinstance(theta, str):
            theta = 1 / (1 + contraction_below_1(NAME, setting, M))
        if isinstance(eta, str):
            L = setting.needed_curvature(NAME, "step_size", eta).L_local
            eta = 1 / (4 * tau * L)
        return replace(
            self, step_size=eta, momentum=tau, dual_step=theta, convexity=mu,
            mix_rounds=M,
        )  # fmt: skip


def convexity_of_worst(method: str, wanted: float, setting: Setting) -> float:
    """μ: a number, or that of the worst f_i; σ where an f_i is not strongly convex."""
    if not isinstance(wanted, str):
        return wanted
    c = setting.needed_constants(method, "convexity", wanted)
    if c.mu_local > NO_CONVEXITY * c.L:
        return c.mu_local
    return setting.convexity(method, "convexity", wanted)


def contraction_below_1(method: str, setting: Setting, M: int) -> float:
    """ρ of a mix, which must bring agents nearer to each other."""
    rho = setting.contraction(M)
    if rho >= 1:
        raise UserError(
            f"{method}: mix_rounds = {M} does not contract on this network (rho = "
            f"{rho:.3g}); take more rounds, or mixing 'chebyshev'"
        )
    return rho
