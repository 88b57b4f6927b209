"""ADFS: an accelerated dual method that takes a proximal step on one row at a time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt
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
NAME = "adfs"

TINY = 1e-30
"""Part of μ that L_j is at least: that of a row of zeros, which pulls nowhere."""


@dataclass(frozen=True)
class State:
    """Variables of one agent: v and x, v_j and x_j of its rows, and w = (v − b)/μ."""

    w: Array
    v: Array
    x: Array
    v_rows: Array
    x_rows: Array
    odds: Array


@dataclass(frozen=True, kw_only=True)
class ADFS:
    r"""ADFS (Hendrikx, Bach and Massoulié 2019), smooth F of linear models.

    All edges at once, as in their paper of 2021. With f_i(x) = Σ_j h_j(⟨a_j, x⟩) +
    (μ/2)‖x‖² + ⟨b, x⟩ (`Agent.components`), L_j the smoothness of h_j(⟨a_j, x⟩), and a
    coin C of probability p that all agents share, one step begins, for the vectors and
    for the numbers v_j, x_j of all rows alike, with ::

        y = (x + ρ v)/(1 + ρ),   v ← (1 − ρ) v + ρ y,   x ← y

    and goes on, if C, with u = (y − b)/μ and ::

        D = −ρ/(σ p) (u − FastMix(u, M)),   v ← v + D,   x ← x + (ρ/p) D

    or else with a row j ~ p_j ∝ √(1 + L_j/μ), P = (1 − p) p_j and s = 2ρ L_j/P::

        t = v_j + s (⟨a_j, u⟩/‖a_j‖² − y_j/L_j)
        v_j' = h_j'(ζ)  with  ζ + ‖a_j‖² (1/s − 1/L_j) h_j'(ζ) = ‖a_j‖² t/s
        D = v_j − v_j',   v ← v + D a_j,   x ← x + (ρ/P) D a_j,
        v_j ← v_j',   x_j ← x_j − (ρ/P) D

    The answer is (v − b)/μ. At first v_j = x_j = h_j'(⟨a_j, x^0⟩) and v = x = −Σ_j v_j
    a_j; the papers start from zeros.

    Parameters
    ----------
    step_size
        ρ; ``auto`` and ``theory`` are (1 − p) r1, r1 = 1/(√2 max_i Σ_j √(1 + L_j/μ)),
        and less where 2ρ would be above a P, as it is where an L_j is below μ.
    convexity
        σ, of the dual function; ``auto`` is half of (1 − r)/max_i (μ + Σ_j L_j), r what
        M rounds contract to.
    probability
        p, of a mix in a step; ``auto`` is r1/(r1 + r2), r2 = √(σμ/(1 + r)).
    mix_rounds
        M; by default that of the [mixing] section.

    References
    ----------
    H. Hendrikx, F. Bach and L. Massoulié, "An Accelerated Decentralized Stochastic
    Proximal Algorithm for Finite Sums", NeurIPS 2019; and "An Optimal Algorithm for
    Decentralized Finite-Sum Optimization", SIAM J. Optimization 31(4), 2021.
    """

    traits: ClassVar[Traits] = Traits(
        source="Hendrikx, Bach and Massoulié 2019",
        cost=Cost(gradients="1 - C", paper="1 - C", rounds="M*C"),
        instead="pmgt-svrg",
        remembers=True,
        linear=True,
        square=True,
        convex="components",
    )

    step_size: StepSize = AUTO
    convexity: AutoStep = AUTO
    probability: Chance = AUTO
    mix_rounds: AutoMixRounds = SECTION

    def init(self, agent: Agent, x0: Array) -> State:
        """The slopes at x0, and the vectors that sum to zero with them."""
        f = agent.components
        slopes = agent.slopes(f.dot(x0))
        v = -f.combine(slopes)
        odds = np.cumsum(np.sqrt(1 + f.smoothness / f.mu))
        return State((v - f.b) / f.mu, v, v, slopes, slopes.copy(), odds)

    def step(self, agent: Agent, k: State) -> State:
        """A mix of all agents, or a row of each."""
        rho, p, f = self.step_size, self.probability, agent.components
        y = (k.x + rho * k.v) / (1 + rho)
        y_rows = (k.x_rows + rho * k.v_rows) / (1 + rho)
        v = (1 - rho) * k.v + rho * y
        v_rows = (1 - rho) * k.v_rows + rho * y_rows
        x, x_rows, u = y, y_rows.copy(), (y - f.b) / f.mu
        if agent.coin(p):
            apart = u - agent.mix(u, self.mix_rounds)
            D = -rho / (self.convexity * p) * apart
            v, x = v + D, x + rho / p * D
        else:
            j = agent.choose(k.odds)
            L, norm = np.maximum(f.smoothness[j], TINY * f.mu), f.norms[j]
            P = (1 - p) * np.sqrt(1 + L / f.mu) / k.odds[-1]
            s = 2 * rho * L / P
            at = norm * (v_rows[j] / s - y_rows[j] / L) + f.dot(u, j)
            new = agent.proximal_slope(
                at, float(norm[0] * max(0.0, (1 / s - 1 / L)[0])), j
            )
            D = v_rows[j] - new
            v, x = v + f.combine(D, j), x + f.combine(rho / P * D, j)
            v_rows[j] = new
            x_rows[j] -= rho / P * D
        return State((v - f.b) / f.mu, v, x, v_rows, x_rows, k.odds)

    def solution(self, state: State) -> Array:
        """w."""
        return state.w

    def resolve(self, setting: Setting) -> Self:
        """ρ, σ and p from the rows' smoothness and what a mix contracts to."""
        rho, sigma, p = self.step_size, self.convexity, self.probability
        M = resolve_rounds(
            NAME, self.mix_rounds, setting, 0.0, auto_rho=AUTO_CONTRACTION
        )
        if {type(rho), type(sigma), type(p)} & {str}:
            rows = rows_of(NAME, setting, str(rho))
            lo, hi = spread(NAME, setting, M)
            if isinstance(sigma, str):
                sigma = lo / rows.smoothness / 2
            r1 = 1 / (sqrt(2) * rows.roots)
            r2 = sqrt(sigma * rows.mu / hi)
            if isinstance(p, str):
                p = r1 / (r1 + r2)
            if isinstance(rho, str):
                rho = (1 - p) * r1
        return replace(
            self, step_size=rho, convexity=sigma, probability=p, mix_rounds=M
        )
