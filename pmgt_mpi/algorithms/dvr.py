"""DVR: variance reduction of the dual problem, without dual variables in the code."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.agent import Agent
from pmgt_mpi.algorithms.base import Setting
from pmgt_mpi.algorithms.row_parameters import rows_of, spread
from pmgt_mpi.algorithms.svrg_parameters import AUTO_CONTRACTION, resolve_rounds
from pmgt_mpi.algorithms.traits import Cost, Traits
from pmgt_mpi.options import AUTO, SECTION, AutoMixRounds, AutoStep, Chance, StepSize

Array = NDArray[Any]
NAME = "dvr"


@dataclass(frozen=True)
class State:
    """Variables of one agent; of each row z_j, h_j'(z_j), and the odds up to it."""

    x: Array
    z: Array
    slopes: Array
    odds: Array


@dataclass(frozen=True, kw_only=True)
class DVR:
    r"""DVR (Hendrikx, Bach and Massoulié 2020), smooth F of linear models.

    With f_i(x) = Σ_j h_j(⟨a_j, x⟩) + (μ/2)‖x‖² (`Agent.components`), L_j the smoothness
    of h_j(⟨a_j, x⟩), and a coin C of probability p that all agents share, one step is::

        x ← x − η/(μp) (x − FastMix(x, M))                                    if C
        j ~ p_j ∝ 1 + L_j/μ,   z_j ← (1 − ρ_j) z_j + ρ_j ⟨a_j, x⟩,
        x ← x − (h_j'(z_j) − its old value) a_j/μ                             else

    with ρ_j = ρ/((1 − p) p_j). At first z_j = ⟨a_j, x^0⟩, and x = x^0 − ∇f_i(x^0)/μ is
    forced: μx + Σ_j h_j'(z_j) a_j must sum to zero over the agents.

    Parameters
    ----------
    step_size
        η; ``theory`` is 1/(Lcomm + Lcomp) with Lcomm = (1 + r)/μ, r what M rounds
        contract to, Lcomp = α max_i Σ_j (1 + L_j/μ) and α = 2 (1 − r)/max_i (μ + Σ_j
        L_j). ``auto`` is 1.9 times that: 4 times diverges.
    row_step
        ρ; ``auto`` is ηα.
    probability
        p, of a mix in a step; ``auto`` is Lcomm/(Lcomm + Lcomp).
    mix_rounds
        M; by default that of the [mixing] section.

    References
    ----------
    H. Hendrikx, F. Bach and L. Massoulié, "Dual-Free Stochastic Decentralized
    Optimization with Variance Reduction", NeurIPS 2020.
    """

    traits: ClassVar[Traits] = Traits(
        source="Hendrikx, Bach and Massoulié 2020",
        cost=Cost(gradients="1 - C", paper="1 - C", rounds="M*C"),
        instead="pmgt-svrg",
        remembers=True,
        linear=True,
        square=True,
        convex="components",
    )

    step_size: StepSize = AUTO
    row_step: AutoStep = AUTO
    probability: Chance = AUTO
    mix_rounds: AutoMixRounds = SECTION

    def init(self, agent: Agent, x0: Array) -> State:
        """z at x0, and x where the sum over agents is zero."""
        f = agent.components
        z = f.dot(x0)
        slopes = agent.slopes(z)
        x = -(f.combine(slopes) + f.b) / f.mu
        return State(x, z, slopes, odds=np.cumsum(1 + f.smoothness / f.mu))

    def step(self, agent: Agent, k: State) -> State:
        """A mix of all agents, or a row of each."""
        p, f = self.probability, agent.components
        if agent.coin(p):
            apart = k.x - agent.mix(k.x, self.mix_rounds)
            return replace(k, x=k.x - self.step_size / (f.mu * p) * apart)
        j = agent.choose(k.odds)
        rho = self.row_step * k.odds[-1] / (1 - p) / (1 + f.smoothness[j] / f.mu)
        k.z[j] += rho * (f.dot(k.x, j) - k.z[j])
        new = agent.slopes(k.z[j], j)
        x = k.x - f.combine((new - k.slopes[j]) / f.mu, j)
        k.slopes[j] = new
        return replace(k, x=x)

    def solution(self, state: State) -> Array:
        """x."""
        return state.x

    def resolve(self, setting: Setting) -> Self:
        """η, ρ and p from the rows' smoothness and what a mix contracts to."""
        eta, rho, p = self.step_size, self.row_step, self.probability
        M = resolve_rounds(
            NAME, self.mix_rounds, setting, 0.0, auto_rho=AUTO_CONTRACTION
        )
        if {type(eta), type(rho), type(p)} & {str}:
            rows = rows_of(NAME, setting, str(eta))
            lo, hi = spread(NAME, setting, M)
            alpha = 2 * lo / rows.smoothness
            Lcomm, Lcomp = hi / rows.mu, alpha * rows.condition
            if isinstance(eta, str):
                eta = (1.0 if eta == "theory" else 1.9) / (Lcomm + Lcomp)
            if isinstance(rho, str):
                rho = eta * alpha
            if isinstance(p, str):
                p = Lcomm / (Lcomm + Lcomp)
        return replace(self, step_size=eta, row_step=rho, probability=p, mix_rounds=M)
