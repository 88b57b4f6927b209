"""DSBA: one row at a time, its gradient taken at the point that the step leads to."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.agent import Agent
from pmgt_mpi.algorithms.base import Setting
from pmgt_mpi.algorithms.traits import Cost, Traits
from pmgt_mpi.options import AUTO, AutoStep

Array = NDArray[Any]
NAME = "dsba"


@dataclass(frozen=True)
class State:
    """Variables of one agent: h_j' where last taken, and y = Σ_j h_j' a_j."""

    x: Array
    q: Array
    y: Array
    table: Array


@dataclass(frozen=True, kw_only=True)
class DSBA:
    r"""DSBA (Shen, Mokhtari, Zhou, Zhao and Qian 2018), smooth F of linear models.

    With f_i(x) = Σ_j h_j(⟨a_j, x⟩) + (μ/2)‖x‖² (`Agent.components`), W̃ = (I + W)/2, and
    v^{k+1} SAGA's estimate of ∇f_i at the new point, from one row j::

        x^{k+1} = 2 W̃ x^k − W̃ x^{k−1} − α (v^{k+1} − v^k)

    One step is one iteration, in a form that does not remember rounding errors: with
    q^k half the sum of all x − W x before, and φ_j the h_j' in the table::

        ψ = x^k − (x^k − W x^k) − q^k − α (Σ_l φ_l a_l − n φ_j a_j)
        (1 + αμ) x^{k+1} + α n h_j'(⟨a_j, x^{k+1}⟩) a_j = ψ
        q^{k+1} = q^k + (x^k − W x^k)/2,   φ_j = h_j'(⟨a_j, x^{k+1}⟩)

    whose product with a_j is one equation in one unknown.

    Parameters
    ----------
    step_size
        α; ``auto`` is 1/(2L), L that of the worst f_i.

    References
    ----------
    Z. Shen, A. Mokhtari, T. Zhou, P. Zhao and H. Qian, "Towards More Efficient
    Stochastic Decentralized Learning: Faster Convergence and Sparse Communication",
    ICML 2018.
    """

    traits: ClassVar[Traits] = Traits(
        source="Shen, Mokhtari, Zhou, Zhao and Qian 2018",
        cost=Cost(gradients="1", paper="1", rounds="1"),
        instead="pmgt-svrg",
        remembers=True,
        linear=True,
        convex="components",
    )

    step_size: AutoStep = AUTO

    def init(self, agent: Agent, x0: Array) -> State:
        """q = 0, and the slopes at x^0 are remembered."""
        slopes = agent.slopes(agent.components.dot(x0))
        y = agent.components.combine(slopes)
        return State(x=x0, q=np.zeros_like(x0), y=y, table=slopes)

    def step(self, agent: Agent, k: State) -> State:
        """One iteration."""
        alpha, f = self.step_size, agent.components
        apart = agent.disagreement(k.x)
        j = agent.minibatch(1)
        n, old = len(k.table), k.table[j]
        psi = k.x - apart - k.q - alpha * (k.y + f.b - f.combine(n * old, j))
        psi /= 1 + alpha * f.mu
        push = alpha * n / (1 + alpha * f.mu)
        new = agent.proximal_slope(f.dot(psi, j), push * float(f.norms[j[0]]), j)
        k.table[j] = new
        return State(
            x=psi - f.combine(push * new, j),
            q=k.q + apart / 2,
            y=k.y + f.combine(new - old, j),
            table=k.table,
        )

    def solution(self, state: State) -> Array:
        """x."""
        return state.x

    def resolve(self, setting: Setting) -> Self:
        """α from the smoothness of the worst f_i."""
        if not isinstance(self.step_size, str):
            return self
        c = setting.needed_curvature(NAME, "step_size", self.step_size)
        return replace(self, step_size=1 / (2 * c.L_local))
