"""NIDS: exact first-order method whose step does not depend on the network."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from numpy.typing import NDArray

from pmgt_mpi.agent import Agent
from pmgt_mpi.algorithms.base import Setting
from pmgt_mpi.algorithms.step_sizes import nids_step
from pmgt_mpi.algorithms.traits import Cost, Traits
from pmgt_mpi.algorithms.watching import movement
from pmgt_mpi.options import AUTO, StepSize

Array = NDArray[Any]
NAME = "nids"


@dataclass(frozen=True)
class State:
    """Variables of one agent after k iterations; `x_old` is x^{k−1}."""

    k: int
    x: Array
    z: Array
    x_old: Array
    grad_old: Array


@dataclass(frozen=True, kw_only=True)
class NIDS:
    r"""NIDS (Li, Shi and Yan 2019).

    One step is one iteration, with W̃ = (I + W)/2::

        z^{k+1} = z^k − x^k + W̃(2 x^k − x^{k−1} − α ∇f_i(x^k) + α ∇f_i(x^{k−1}))
        x^{k+1} = prox_α(z^{k+1})

    and at first z^1 = x^0 − α ∇f_i(x^0). A step costs one round (the first none) and
    n_i component gradients.

    Parameters
    ----------
    step_size
        α. For convex f_i it must lie below 2/L, L the largest smoothness of an f_i,
        whatever the network: ``theory`` is 1/L, ``auto`` 1.9/L, and less where an f_i
        is not convex (`Setting.bold_step`).

    References
    ----------
    Z. Li, W. Shi and M. Yan, "A Decentralized Proximal-Gradient Method with Network
    Independent Step-Sizes and Separated Convergence Rates", IEEE Trans. Signal
    Processing 67(17), 2019.
    """

    traits: ClassVar[Traits] = Traits(
        source="Li, Shi and Yan 2019",
        cost=Cost(gradients="n", paper="n", rounds="k > 0"),
        proximal=True,
        convex="agents",
        guarded=("step_size",),
    )

    step_size: StepSize = AUTO

    def init(self, agent: Agent, x0: Array) -> State:  # noqa: ARG002
        """Only x0 counts; the first step does not look further back."""
        return State(k=0, x=x0, z=x0, x_old=x0, grad_old=x0)

    def step(self, agent: Agent, s: State) -> State:
        """One iteration."""
        alpha = self.step_size
        g = agent.grad(s.x)
        if s.k == 0:
            z = s.x - alpha * g
        else:
            u = 2 * s.x - s.x_old - alpha * (g - s.grad_old)
            z = s.z - s.x + (u + agent.gossip(u)) / 2
        x = agent.prox(z, alpha)
        return State(k=s.k + 1, x=x, z=z, x_old=s.x, grad_old=g)

    def solution(self, state: State) -> Array:
        """x."""
        return state.x

    def watched(self, agent: Agent, before: State, after: State) -> float:  # noqa: ARG002
        """‖x^{k+1} − x^k‖/α."""
        return movement(before.x, after.x, self.step_size)

    def rescaled(self, agent: Agent, s: State, ratio: float) -> State:
        """Take the last step again with an α that is `ratio` times as large.

        z^k = x^{k−1} − α ∇f_i(x^{k−1}) − α d_i, where the d_i sum up to zero over the
        agents: the last two terms are in proportion to α.
        """
        z = s.x_old + ratio * (s.z - s.x_old)
        return replace(s, z=z, x=agent.prox(z, self.step_size))

    def resolve(self, setting: Setting) -> Self:
        """α = 1.9/L, or less where that would not be stable."""
        return replace(self, step_size=nids_step(NAME, self.step_size, setting))
