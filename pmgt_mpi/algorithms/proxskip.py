"""ProxSkip by gossip: most iterations send nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.agent import Agent
from pmgt_mpi.algorithms.base import Setting
from pmgt_mpi.algorithms.traits import Cost, Traits
from pmgt_mpi.options import AUTO, AutoStep, Chance

Array = NDArray[Any]
NAME = "proxskip"


@dataclass(frozen=True)
class State:
    """Variables of one agent; h corrects its gradient, and is ∇f_i(x*) in the end."""

    x: Array
    h: Array


@dataclass(frozen=True, kw_only=True)
class ProxSkip:
    r"""ProxSkip, or Scaffnew (Mishchenko, Malinovsky, Stich and Richtárik 2022).

    One step is one iteration, with W̃ = (I + W)/2 and a coin C of probability p that all
    agents share::

        x̂^{k+1} = x^k − α (∇f_i(x^k) − h^k)
        x^{k+1} = W̃ x̂^{k+1},   h^{k+1} = h^k + (p/α)(x^{k+1} − x̂^{k+1})    if C
        x^{k+1} = x̂^{k+1},     h^{k+1} = h^k                               else

    with h^0 = 0. In the paper a server takes the exact mean in place of W̃. With p = 1
    it is exact diffusion.

    Parameters
    ----------
    step_size
        α; ``auto`` is 1/L, less where an f_i is not convex: no guard looks on.
    probability
        p, of a round in a step; ``auto`` is √(2ασ/(1 − λ_2)), at most 1: then
        p² (1 − λ_2)/2, the rate at which agents come together, is ασ, that at which x
        comes to the minimiser.

    References
    ----------
    K. Mishchenko, G. Malinovsky, S. Stich and P. Richtárik, "ProxSkip: Yes! Local
    Gradient Steps Provably Lead to Communication Acceleration! Finally!", ICML 2022.
    """

    traits: ClassVar[Traits] = Traits(
        source="Mishchenko, Malinovsky, Stich and Richtárik 2022",
        cost=Cost(gradients="n", paper="n", rounds="C"),
        instead="nids",
        convex="agents",
    )

    step_size: AutoStep = AUTO
    probability: Chance = AUTO

    def init(self, agent: Agent, x0: Array) -> State:  # noqa: ARG002
        """h = 0."""
        return State(x=x0, h=np.zeros_like(x0))

    def step(self, agent: Agent, k: State) -> State:
        """One iteration."""
        alpha, p = self.step_size, self.probability
        x_hat = k.x - alpha * (agent.grad(k.x) - k.h)
        if not agent.coin(p):
            return State(x=x_hat, h=k.h)
        x = (x_hat + agent.gossip(x_hat)) / 2
        return State(x=x, h=k.h + p / alpha * (x - x_hat))

    def solution(self, state: State) -> Array:
        """x."""
        return state.x

    def resolve(self, setting: Setting) -> Self:
        """α, and p that balances the two rates; 1 where F may be flat."""
        alpha, p = self.step_size, self.probability
        if isinstance(alpha, str):
            L = setting.needed_curvature(NAME, "step_size", alpha).L_local
            alpha = min(1 / L, setting.largest_steady_step())
        if isinstance(p, str):
            p = 1.0
            if not setting.flat:
                sigma = setting.convexity(NAME, "probability", "auto")
                p = min(p, sqrt(2 * alpha * sigma / (1 - setting.lambda_2)))
        return replace(self, step_size=alpha, probability=p)
