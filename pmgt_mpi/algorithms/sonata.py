"""SONATA: successive convex approximation with gradient tracking."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from numpy.typing import NDArray

from pmgt_mpi.agent import Agent
from pmgt_mpi.algorithms.base import Setting
from pmgt_mpi.algorithms.step_sizes import tracking_step
from pmgt_mpi.algorithms.traits import Cost, Traits
from pmgt_mpi.algorithms.watching import mapping
from pmgt_mpi.options import AUTO, AutoStep, Probability

Array = NDArray[Any]
NAME = "sonata"


@dataclass(frozen=True)
class State:
    """Variables of one agent: the iterate, its gradient, and the tracker t."""

    x: Array
    t: Array
    grad_x: Array


@dataclass(frozen=True, kw_only=True)
class Sonata:
    r"""SONATA (Sun, Scutari and Daneshmand 2019) with the linear surrogate of f_i.

    One step is one iteration::

        x^{k+1} = W(x^k + γ (prox_α(x^k − α t^k) − x^k))
        t^{k+1} = W(t^k + ∇f_i(x^{k+1}) − ∇f_i(x^k))

    with t^0 = ∇f_i(x^0). Only the whole F need be convex.

    Parameters
    ----------
    step_size
        α; ``auto`` is `tracking_step` for full gradients.
    relaxation
        γ, how far to go to the surrogate's minimiser.

    References
    ----------
    Y. Sun, G. Scutari and A. Daneshmand, "Distributed Optimization Based on Gradient
    Tracking Revisited: Enhancing Convergence Rate via Surrogation", SIAM J.
    Optimization 32(2), 2022 (first in 2019).
    """

    traits: ClassVar[Traits] = Traits(
        source="Sun, Scutari and Daneshmand 2019",
        cost=Cost(gradients="n", paper="n", rounds="2"),
        proximal=True,
        guarded=("step_size",),
    )

    step_size: AutoStep = AUTO
    relaxation: Probability = 1.0

    def init(self, agent: Agent, x0: Array) -> State:
        """t = ∇f_i(x0)."""
        g = agent.grad(x0)
        return State(x=x0, t=g, grad_x=g)

    def step(self, agent: Agent, k: State) -> State:
        """One iteration."""
        alpha, gamma = self.step_size, self.relaxation
        x = agent.gossip(k.x + gamma * (agent.prox(k.x - alpha * k.t, alpha) - k.x))
        g = agent.grad(x)
        return State(x=x, t=agent.gossip(k.t + g - k.grad_x), grad_x=g)

    def solution(self, state: State) -> Array:
        """x."""
        return state.x

    def watched(self, agent: Agent, before: State, after: State) -> float:  # noqa: ARG002
        """The gradient mapping, of the tracked gradient."""
        return mapping(agent, after.x, after.t, self.step_size)

    def resolve(self, setting: Setting) -> Self:
        """α that one gossip round an iterate keeps stable."""
        alpha = tracking_step(NAME, self.step_size, setting, adapt_first=True)
        return replace(self, step_size=alpha)
