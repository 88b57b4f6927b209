"""Gossip the covariance itself, once, and take its eigenvectors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.agent import Agent
from pmgt_mpi.algorithms.base import Setting
from pmgt_mpi.algorithms.eigenvectors.subspace import (
    Found,
    leading,
    resolved_rounds,
    signed,
)
from pmgt_mpi.algorithms.traits import Cost, Traits
from pmgt_mpi.options import AUTO, AutoMixRounds, Tolerance

Array = NDArray[Any]
NAME = "covariance"


@dataclass(frozen=True)
class State:
    """The agent's estimate of C, its upper triangle packed, and the eigenvectors."""

    C: Array
    V: Array
    values: Array
    start: Array


@dataclass(frozen=True, kw_only=True)
class GossipCovariance:
    """Gossip the d × d covariance, its packed triangle, and take its eigenvectors.

    The start takes C_i; one step is one mix::

        C = mix(C, M),    V = the k leading eigenvectors of C

    One step is enough: M is so large that it leaves of the agents' differences no more
    than a given part of C. Each C_i is at most m C, as it is one of m positive
    semidefinite terms of a mean; so the mixing must contract to tolerance/m.

    Cost: n_i component gradients (one pass over the rows) at the start, and M rounds of
    d(d+1)/2 numbers in place of dk. A neighbour sees a mean of covariances, and on some
    graphs it can find out that of one agent.

    Parameters
    ----------
    tolerance
        What a step leaves of the agents' differences, as a part of C.
    mix_rounds
        M; ``"auto"`` is what the tolerance needs.

    References
    ----------
    L. Xiao and S. Boyd, "Fast Linear Iterations for Distributed Averaging", Systems &
    Control Letters 2004 (the mean by gossip, here with Chebyshev's polynomial).
    """

    traits: ClassVar[Traits] = Traits(
        source="Xiao and Boyd 2004",
        cost=Cost(gradients="0", paper="0", rounds="M", holds="triangle"),
        finds="eigenvectors",
    )

    tolerance: Tolerance = 1e-14
    mix_rounds: AutoMixRounds = AUTO

    def init(self, agent: Agent, x0: Array) -> State:
        """C_i, before it is mixed."""
        C = agent.gram()
        triangle = C[np.triu_indices(len(C))]
        return State(triangle, x0, np.zeros(x0.shape[1]), x0)

    def step(self, agent: Agent, s: State) -> State:
        """One mix."""
        d, k = s.V.shape
        triangle = agent.mix(s.C, self.mix_rounds)
        C = np.empty((d, d))
        upper = np.triu_indices(d)
        C[upper] = triangle
        C.T[upper] = triangle
        values, V = leading(C, k)
        V = signed(V.astype(s.V.dtype), s.start)
        return State(triangle, V, values, s.start)

    def solution(self, state: State) -> Array:
        """V."""
        return state.V

    def found(self, state: State) -> Found:
        """The eigenpairs; their residuals are what the mixing has been made for."""
        left = self.tolerance * np.abs(state.values).max()
        return Found(state.V, state.values, np.full_like(state.values, left))

    def resolve(self, setting: Setting) -> Self:
        """M for the tolerance."""
        contraction = self.tolerance / setting.agents
        M = resolved_rounds(setting, self.mix_rounds, contraction)
        return replace(self, mix_rounds=M)
