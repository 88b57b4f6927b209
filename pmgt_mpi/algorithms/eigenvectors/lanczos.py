"""Block Lanczos with gossiped products and full reorthogonalisation."""

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
    signed,
)
from pmgt_mpi.algorithms.traits import Cost, Traits
from pmgt_mpi.options import AUTO, AutoMixRounds, Count, Tolerance

Array = NDArray[Any]
NAME = "lanczos"


@dataclass(frozen=True)
class State:
    """The basis Q, its products, and the start."""

    Q: Array
    CQ: Array
    start: Array


@dataclass(frozen=True, kw_only=True)
class BlockLanczos:
    """Block Lanczos, its products gossiped, with full reorthogonalisation.

    One step adds a block of k vectors to the basis Q::

        Θ, Y   = the k leading eigenpairs of QᵀCQ,  V = QY       (Rayleigh and Ritz)
        R      = CV − VΘ                                         (spans the next block)
        Q_new  = orth(mix(orth(R), M))                           (orthogonal to Q)
        CQ_new = mix(C_i Q_new, M)

    The basis is that of Lanczos, as the residuals span what C adds to it; CQ is kept,
    so that QᵀCQ and R are what they are in spite of rounding. When Q has `basis`
    columns, it is made anew of the 2k leading Ritz vectors (Wu and Simon 2000).

    Agents must agree on Q_new, for the error of CQ_new is what they differ by in it;
    and a residual r that is known to ε says where it points to ε/r only. Where one
    vector has converged and others have not, a column of R is rounding: without the mix
    its product would be wrong, and would stay in the basis.

    Cost of a step: n_i component gradients, a pass over the rows, and 2M rounds.

    Parameters
    ----------
    tolerance
        What mixing leaves of the agents' differences of products, as a part of C: the
        accuracy that can be reached is this over the relative gap.
    basis
        Most columns of Q; at least 3k.
    mix_rounds
        M; ``"auto"`` is what the tolerance needs.

    References
    ----------
    G. H. Golub and R. Underwood, "The Block Lanczos Method for Computing Eigenvalues",
    Mathematical Software III, 1977; K. Wu and H. Simon, "Thick-Restart Lanczos Method
    for Large Symmetric Eigenvalue Problems", SIAM J. Matrix Anal. Appl. 2000.
    """

    traits: ClassVar[Traits] = Traits(
        source="Golub and Underwood 1977",
        cost=Cost(gradients="n", paper="n", rounds="2*M"),
        finds="eigenvectors",
    )

    tolerance: Tolerance = 1e-13
    basis: Count = 60
    mix_rounds: AutoMixRounds = AUTO

    def init(self, agent: Agent, x0: Array) -> State:
        """Q = V^0, the same on all agents, and its products."""
        return State(x0, agent.mix(agent.product(x0), self.mix_rounds), x0)

    def step(self, agent: Agent, s: State) -> State:
        """One block more."""
        Q, CQ = s.Q, s.CQ
        d, k = s.start.shape
        most = min(d, max(self.basis, 3 * k))
        width = min(k, most - k)
        if width == 0:
            return s  # k = d: the basis is all there is
        found, R = ritz(Q, CQ, k)
        # Agents may have other vectors where two Ritz values are close, and other
        # signs; R Vᵀ is the same for all.
        R = R @ (found.V.T @ s.start)
        if Q.shape[1] + width > most:
            kept, R_kept = ritz(Q, CQ, min(2 * k, most - width))
            Q, CQ = kept.V, kept.V * kept.values + R_kept
        W = agent.mix(orthogonal_to(Q, R[:, -width:]), self.mix_rounds)
        W = orthogonal_to(Q, W)
        CW = agent.mix(agent.product(W), self.mix_rounds)
        return State(np.hstack([Q, W]), np.hstack([CQ, CW]), s.start)

    def solution(self, state: State) -> Array:
        """V."""
        return signed(self.found(state).V, state.start)

    def found(self, state: State) -> Found:
        """The eigenpairs of C in the span of Q."""
        return ritz(state.Q, state.CQ, state.start.shape[1])[0]

    def resolve(self, setting: Setting) -> Self:
        """M for the tolerance."""
        contraction = self.tolerance / setting.agents
        M = resolved_rounds(setting, self.mix_rounds, contraction)
        return replace(self, mix_rounds=M)


def orthogonal_to(Q: Array, W: Array) -> Array:
    """Orthonormal columns for the part of W's span that is orthogonal to Q."""
    size = np.linalg.norm(W, axis=0)
    W = W / np.where(size > 0, size, 1.0).astype(W.dtype)
    for _ in range(3):  # a part that is small beside W needs more than one pass
        W = orthonormal(W - Q @ (Q.T @ W))
    return W
