"""DeEPCA: subspace iteration with tracking of the products."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.agent import Agent
from pmgt_mpi.algorithms.base import Setting
from pmgt_mpi.algorithms.eigenvectors.subspace import (
    Found,
    orthonormal,
    resolved_rounds,
    ritz,
)
from pmgt_mpi.algorithms.traits import Cost, Traits
from pmgt_mpi.options import AUTO, AutoMixRounds

Array = NDArray[Any]
NAME = "deepca"

ENOUGH = 0.05
"""Contraction of M rounds with which steps are as many as with exact means."""


@dataclass(frozen=True)
class State:
    """Variables of one agent: S tracks C V_old, and V is its basis."""

    S: Array
    V: Array
    V_old: Array
    CV_old: Array


@dataclass(frozen=True, kw_only=True)
class DeEPCA:
    """DeEPCA (Ye and Zhang 2021): subspace iteration, S tracks the mean of C_i V_i.

    One step is one iteration::

        S^{t+1} = mix(S^t + C_i V^t − C_i V^{t−1}, M),    V^{t+1} = orth(S^{t+1})

    with S^0 = C_i V^0, mixed, and V^0 the same on all agents. The error falls by
    λ_{k+1}/λ_k a step. M must be large enough for how much the C_i differ; beyond, more
    rounds bring nothing. The paper takes the signs of V's columns from V^0; here R of
    S = VR has a positive diagonal, which no agent can come to differently.

    Cost of a step: n_i component gradients, a pass over the rows, and M rounds.

    Parameters
    ----------
    mix_rounds
        M; ``"auto"`` contracts to 0.05.

    References
    ----------
    H. Ye and T. Zhang, "DeEPCA: Decentralized Exact PCA with Linear Convergence Rate",
    JMLR 22(238), 2021.
    """

    traits: ClassVar[Traits] = Traits(
        source="Ye and Zhang 2021",
        cost=Cost(gradients="n", paper="n", rounds="M"),
        finds="eigenvectors",
    )

    mix_rounds: AutoMixRounds = AUTO

    def init(self, agent: Agent, x0: Array) -> State:  # noqa: ARG002
        """S = V = V^0, and nothing tracked."""
        zero = np.zeros_like(x0)
        return State(zero, x0, zero, zero)

    def step(self, agent: Agent, s: State) -> State:
        """One iteration."""
        CV = agent.product(s.V)
        S = agent.mix(s.S + CV - s.CV_old, self.mix_rounds)
        return State(S, orthonormal(S), s.V, CV)

    def solution(self, state: State) -> Array:
        """V."""
        return state.V

    def found(self, state: State) -> Found:
        """The eigenpairs of C in the span of V_old, of which S is the product."""
        return ritz(state.V_old, state.S, state.V.shape[1])[0]

    def resolve(self, setting: Setting) -> Self:
        """M that contract to 0.05."""
        M = resolved_rounds(setting, self.mix_rounds, ENOUGH)
        return replace(self, mix_rounds=M)
