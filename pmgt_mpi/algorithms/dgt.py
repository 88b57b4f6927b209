"""Gradient tracking by itself: full gradients, one round an iteration."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from numpy.typing import NDArray

from pmgt_mpi.agent import Agent
from pmgt_mpi.algorithms.base import Setting
from pmgt_mpi.algorithms.step_sizes import tracking_step
from pmgt_mpi.algorithms.traits import Cost, Traits
from pmgt_mpi.options import AUTO, StepSize

Array = NDArray[Any]
NAME = "dgt"


@dataclass(frozen=True)
class State:
    """Variables of one agent: the iterate, its gradient, and the tracker t."""

    x: Array
    t: Array
    grad_x: Array


@dataclass(frozen=True, kw_only=True)
class DGT:
    r"""Distributed gradient tracking (Qu and Li 2018; Di Lorenzo and Scutari 2016).

    One step is one iteration::

        x^{k+1} = W x^k − α t^k
        t^{k+1} = W t^k + ∇f_i(x^{k+1}) − ∇f_i(x^k)

    with t^0 = ∇f_i(x^0). W x and W t travel in one message. `sonata` takes its step
    before the round, and has a proximal one.

    Parameters
    ----------
    step_size
        α; ``auto`` is `tracking_step`; ``theory`` is (σ/L²) ((1 − λ)/6)² of Theorem 1
        in Qu and Li, L of the worst f_i and λ = max(λ_2, −λ_min).

    References
    ----------
    G. Qu and N. Li, "Harnessing Smoothness to Accelerate Distributed Optimization",
    IEEE Trans. Control of Network Systems 5(3), 2018.
    """

    traits: ClassVar[Traits] = Traits(
        source="Qu and Li 2018",
        cost=Cost(gradients="n", paper="n", rounds="1", vectors=2),
        instead="sonata",
        convex="agents",
    )

    step_size: StepSize = AUTO

    def init(self, agent: Agent, x0: Array) -> State:
        """t = ∇f_i(x0)."""
        g = agent.grad(x0)
        return State(x=x0, t=g, grad_x=g)

    def step(self, agent: Agent, k: State) -> State:
        """One iteration."""
        W_x, W_t = agent.gossip_together(k.x, k.t)
        x = W_x - self.step_size * k.t
        g = agent.grad(x)
        return State(x=x, t=W_t + g - k.grad_x, grad_x=g)

    def solution(self, state: State) -> Array:
        """x."""
        return state.x

    def resolve(self, setting: Setting) -> Self:
        """α that one gossip round an iteration keeps stable, or that of the proof."""
        alpha = self.step_size
        if str(alpha) != "theory":
            alpha = tracking_step(NAME, alpha, setting, adapt_first=False)
            return replace(self, step_size=alpha)
        L = setting.needed_curvature(NAME, "step_size", "theory").L_local
        sigma = setting.convexity(NAME, "step_size", "theory")
        gap = 1 - max(setting.lambda_2, -setting.lambda_min)
        return replace(self, step_size=sigma / L / L * (gap / 6) ** 2)
