"""Exact diffusion: adapt, correct, combine."""

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
NAME = "exact-diffusion"


@dataclass(frozen=True)
class State:
    """Variables of one agent after k iterations; `psi` is ψ^k, the adapted x^{k−1}."""

    x: Array
    psi: Array


@dataclass(frozen=True, kw_only=True)
class ExactDiffusion:
    r"""Exact diffusion (Yuan, Ying, Zhao and Sayed 2018), smooth F only.

    One step is one iteration, with W̃ = (I + W)/2 and ψ^0 = x^0::

        ψ^{k+1} = x^k − α ∇f_i(x^k)                   adapt
        x^{k+1} = W̃(ψ^{k+1} + x^k − ψ^k)              correct, combine

    Parameters
    ----------
    step_size
        α; below 2/L for convex f_i whatever the network; ``theory`` and ``auto`` as for
        NIDS, which has the same bound.

    References
    ----------
    K. Yuan, B. Ying, X. Zhao and A. H. Sayed, "Exact Diffusion for Distributed
    Optimization and Learning — Part I", IEEE Trans. Signal Processing 67(3), 2019.
    """

    traits: ClassVar[Traits] = Traits(
        source="Yuan, Ying, Zhao and Sayed 2018",
        cost=Cost(gradients="n", paper="n", rounds="1"),
        instead="p2d2",
        convex="agents",
        guarded=("step_size",),
    )

    step_size: StepSize = AUTO

    def init(self, agent: Agent, x0: Array) -> State:  # noqa: ARG002
        """ψ^0 = x^0."""
        return State(x=x0, psi=x0)

    def step(self, agent: Agent, k: State) -> State:
        """One iteration."""
        psi = k.x - self.step_size * agent.grad(k.x)
        corrected = psi + k.x - k.psi
        return State(x=(corrected + agent.gossip(corrected)) / 2, psi=psi)

    def solution(self, state: State) -> Array:
        """x."""
        return state.x

    def watched(self, agent: Agent, before: State, after: State) -> float:  # noqa: ARG002
        """‖x^{k+1} − x^k‖/α."""
        return movement(before.x, after.x, self.step_size)

    def rescaled(self, agent: Agent, k: State, ratio: float) -> State:  # noqa: ARG002
        """Stay at x with an α that is `ratio` times as large.

        x^k − ψ^k, which sums up to zero over the agents, is in proportion to α.
        """
        return replace(k, psi=k.x - ratio * (k.x - k.psi))

    def resolve(self, setting: Setting) -> Self:
        """α = 1.9/L, or less where that would not be stable."""
        return replace(self, step_size=nids_step(NAME, self.step_size, setting))
