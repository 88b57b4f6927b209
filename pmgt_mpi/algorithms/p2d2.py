"""P2D2: the proximal primal-dual diffusion method."""

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
NAME = "p2d2"


@dataclass(frozen=True)
class State:
    """Variables of one agent after k iterations; `psi` is ψ^k, the adapted x^{k−1}."""

    x: Array
    z: Array
    psi: Array


@dataclass(frozen=True, kw_only=True)
class P2D2:
    r"""P2D2 (Alghunaim, Yuan and Sayed 2019): exact diffusion with a proximal step.

    One step is one iteration, with W̃ = (I + W)/2 and z^0 = ψ^0 = x^0::

        ψ^{k+1} = x^k − α ∇f_i(x^k)
        z^{k+1} = W̃(ψ^{k+1} + z^k − ψ^k)
        x^{k+1} = prox_α(z^{k+1})

    Parameters
    ----------
    step_size
        α; below 2/L for convex f_i whatever the network; ``theory`` and ``auto`` as for
        NIDS, which has the same bound.

    References
    ----------
    S. A. Alghunaim, K. Yuan and A. H. Sayed, "A Linearly Convergent Proximal Gradient
    Algorithm for Decentralized Optimization", NeurIPS 2019.
    """

    traits: ClassVar[Traits] = Traits(
        source="Alghunaim, Yuan and Sayed 2019",
        cost=Cost(gradients="n", paper="n", rounds="1"),
        proximal=True,
        convex="agents",
        guarded=("step_size",),
    )

    step_size: StepSize = AUTO

    def init(self, agent: Agent, x0: Array) -> State:  # noqa: ARG002
        """z^0 = ψ^0 = x^0."""
        return State(x=x0, z=x0, psi=x0)

    def step(self, agent: Agent, k: State) -> State:
        """One iteration."""
        alpha = self.step_size
        psi = k.x - alpha * agent.grad(k.x)
        corrected = psi + k.z - k.psi
        z = (corrected + agent.gossip(corrected)) / 2
        return State(x=agent.prox(z, alpha), z=z, psi=psi)

    def solution(self, state: State) -> Array:
        """x."""
        return state.x

    def watched(self, agent: Agent, before: State, after: State) -> float:  # noqa: ARG002
        """‖x^{k+1} − x^k‖/α."""
        return movement(before.x, after.x, self.step_size)

    def rescaled(self, agent: Agent, k: State, ratio: float) -> State:  # noqa: ARG002
        """Stay at x with an α that is `ratio` times as large.

        z^k − x^k, of which prox_α takes z^k back to x^k, is in proportion to α; so is
        z^k − ψ^k, which sums up to zero over the agents.
        """
        z = k.x + ratio * (k.z - k.x)
        return replace(k, z=z, psi=z - ratio * (k.z - k.psi))

    def resolve(self, setting: Setting) -> Self:
        """α = 1.9/L, or less where that would not be stable."""
        return replace(self, step_size=nids_step(NAME, self.step_size, setting))
