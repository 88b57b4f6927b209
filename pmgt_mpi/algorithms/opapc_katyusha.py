"""Loopless Katyusha in the step of OPAPC: accelerated, with minibatches."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.agent import Agent
from pmgt_mpi.algorithms.base import Setting
from pmgt_mpi.algorithms.opapc import contraction_below_1, convexity_of_worst
from pmgt_mpi.algorithms.svrg_parameters import AUTO_CONTRACTION, resolve_rounds
from pmgt_mpi.algorithms.traits import Cost, Traits
from pmgt_mpi.options import (
    AUTO,
    SECTION,
    SQRT,
    AutoMixRounds,
    AutoStep,
    BatchSize,
    Chance,
)

Array = NDArray[Any]
NAME = "opapc-katyusha"

TO_SNAPSHOT = 0.25
"""τ_2: how much of y is the snapshot."""


@dataclass(frozen=True)
class State:
    """Variables of one agent: q is the dual one, g the gradient at the snapshot w."""

    x: Array
    z: Array
    q: Array
    w: Array
    g: Array


@dataclass(frozen=True, kw_only=True)
class OPAPCKatyusha:
    r"""Loopless Katyusha inside OPAPC, smooth F only: a combination of this package.

    One step is one iteration, with τ_2 = 1/4 and a coin C of probability p that all
    agents share::

        y = τ z^k + τ_2 w^k + (1 − τ − τ_2) x^k
        v = ∇f_i(w^k) + (1/b) Σ_{j ∈ B} (∇f_ij(y) − ∇f_ij(w^k)) − μ y
        h = (z^k − η (v + q^k))/(1 + ημ)
        q^{k+1} = q^k + (θ/η) (h − FastMix(h, M))
        z^{k+1} = (z^k − η (v + q^{k+1}))/(1 + ημ)
        x^{k+1} = y + τ (z^{k+1} − z^k)
        w^{k+1} = x^k if C, else w^k

    It is a method of the kind of Acc-VR-EXTRA (Li, Lin and Fang 2022), whose parameters
    as printed were not at hand: no theorem speaks of this one. It converges in
    simulations with the parameters below.

    Parameters
    ----------
    batch_size
        b.
    probability
        p, of a new snapshot in a step; ``auto`` is b/n.
    step_size
        η; ``auto`` is 1/(4 L_b τ), L_b = L + l1/b, L that of the worst f_i.
    momentum
        τ; ``auto`` is min(½, ½ √(μ/(L_b p))).
    dual_step
        θ; ``auto`` is 1/(1 + ρ), ρ that to which M rounds contract.
    convexity
        μ, as for OPAPC.
    mix_rounds
        M; by default that of the [mixing] section.

    References
    ----------
    D. Kovalev, S. Horváth and P. Richtárik, "Don't Jump Through Hoops and Remove Those
    Loops: SVRG and Katyusha are Better Without the Outer Loop", ALT 2020; and that of
    OPAPC.
    """

    traits: ClassVar[Traits] = Traits(
        source="this package, after Kovalev, Horváth and Richtárik 2020",
        cost=Cost(gradients="2*b + n*C", paper="b + n*C", rounds="M"),
        instead="pmgt-katyushax",
        convex="components",
    )

    batch_size: BatchSize = SQRT
    probability: Chance = AUTO
    step_size: AutoStep = AUTO
    momentum: Chance = AUTO
    dual_step: Chance = AUTO
    convexity: AutoStep = AUTO
    mix_rounds: AutoMixRounds = SECTION

    def init(self, agent: Agent, x0: Array) -> State:
        """x = z = w = x0, q = 0."""
        return State(x=x0, z=x0, q=np.zeros_like(x0), w=x0, g=agent.grad(x0))

    def step(self, agent: Agent, k: State) -> State:
        """One iteration."""
        eta, tau, mu = self.step_size, self.momentum, self.convexity
        y = tau * k.z + TO_SNAPSHOT * k.w + (1 - tau - TO_SNAPSHOT) * k.x
        B = agent.minibatch(self.batch_size)
        v = k.g + agent.grad_difference(y, k.w, B) - mu * y
        h = (k.z - eta * (v + k.q)) / (1 + eta * mu)
        q = k.q + self.dual_step / eta * (h - agent.mix(h, self.mix_rounds))
        z = (k.z - eta * (v + q)) / (1 + eta * mu)
        w, g = k.w, k.g
        if agent.coin(self.probability):
            w, g = k.x, agent.grad(k.x)
        return State(x=y + tau * (z - k.z), z=z, q=q, w=w, g=g)

    def solution(self, state: State) -> Array:
        """x."""
        return state.x

    def resolve(self, setting: Setting) -> Self:
        """b, p and M, then μ, τ and η for them."""
        b = setting.batch_size(NAME, self.batch_size)
        eta, tau, theta = self.step_size, self.momentum, self.dual_step
        p = setting.probability(self.probability, b)
        M = resolve_rounds(
            NAME, self.mix_rounds, setting, 0.0, auto_rho=AUTO_CONTRACTION
        )
        L_b = 0.0
        if isinstance(eta, str) or isinstance(tau, str):
            c = setting.needed_curvature(NAME, "step_size", eta)
            L_b = c.L_local + c.l1 / b
        mu = convexity_of_worst(NAME, self.convexity, setting)
        if isinstance(tau, str):
            tau = min(0.5, 0.5 * sqrt(mu / (L_b * p)))
        if isinstance(eta, str):
            eta = 1 / (4 * L_b * tau)
        if isinstance(theta, str):
            theta = 1 / (1 + contraction_below_1(NAME, setting, M))
        return replace(
            self, batch_size=b, probability=p, step_size=eta, momentum=tau,
            dual_step=theta, convexity=mu, mix_rounds=M,
        )  # fmt: skip
