"""Block Lanczos with gossiped products and full reorthogonalisation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.agent import Agent
from pmgt_mpi.algorithms.base import Setting
from pmgt_mpi.algorithms.eigenvectors.subspace import (
    leading,
    orthonormal,
    resolved_rounds,
    signed,
)
from pmgt_mpi.algorithms.traits import Cost, Traits
from pmgt_mpi.options import AUTO, AutoMixRounds, Count, Tolerance

Array = NDArray[Any]
NAME = "lanczos"

ALIKE = 1e-3
"""Contraction of the mix that makes a new block the same on all agents."""


@dataclass(frozen=True)
class State:
    """The basis Q and CQ, and what was found in it."""

    Q: Array
    CQ: Array
    V: Array
    values: Array
    start: Array
    residual: float


@dataclass(frozen=True, kw_only=True)
class BlockLanczos:
    """Block Lanczos, its products gossiped, with full reorthogonalisation.

    One step adds a block of k vectors to the basis Q::

        Θ, Y   = the k leading eigenpairs of QᵀCQ,  V = QY       (Rayleigh and Ritz)
        R      = CV − VΘ                                         (spans the next block)
        Q_new  = orth(mix(orth(R), M'))                          (orthogonal to Q)
        CQ_new = mix(C_i Q_new, M)

    The basis is that of Lanczos, as the residuals span what C adds to it; CQ is kept,
    so that QᵀCQ and R are what they are in spite of rounding. When Q has `basis`
    columns, it is made anew of the 2k leading Ritz vectors (Wu and Simon 2000).

    Agents must agree on Q_new, for the error of CQ_new is what they differ by in it;
    and a residual r that is known to ε says where it points to ε/r only. So each block
    is mixed before it is used, with M' rounds that contract to 1e-3.

    Cost of a step: n_i component gradients, a pass over the rows, and M + M' rounds.

    Parameters
    ----------
    tolerance
        What mixing leaves of the agents' differences of products, as a part of C: the
        accuracy that can be reached is this over the relative gap.
    basis
        Most columns of Q; at least 3k.
    mix_rounds
        M; ``"auto"`` is what the tolerance needs.
    block_rounds
        M'; ``"auto"`` contracts to 1e-3.

    References
    ----------
    G. H. Golub and R. Underwood, "The Block Lanczos Method for Computing Eigenvalues",
    Mathematical Software III, 1977; K. Wu and H. Simon, "Thick-Restart Lanczos Method
    for Large Symmetric Eigenvalue Problems", SIAM J. Matrix Anal. Appl. 2000.
    """

    traits: ClassVar[Traits] = Traits(
        source="Golub and Underwood 1977",
        cost=Cost(gradients="n", paper="n", rounds="M + B"),
        letters=(("block_rounds", "B"),),
        finds="eigenvectors",
    )

    tolerance: Tolerance = 1e-13
    basis: Count = 60
    mix_rounds: AutoMixRounds = AUTO
    block_rounds: AutoMixRounds = AUTO

    def init(self, agent: Agent, x0: Array) -> State:
        """Q = V^0, the same on all agents, and its products."""
        CQ = agent.mix(agent.product(x0), self.mix_rounds)
        return self._found(x0, CQ, x0)

    def step(self, agent: Agent, s: State) -> State:
        """One block more."""
        Q, CQ = s.Q, s.CQ
        d, k = s.V.shape
        most = min(d, max(self.basis, 3 * k))
        width = min(k, most - k)
        if width == 0:
            return s  # k = d: the basis is all there is
        if Q.shape[1] + width > most:
            _, Y = leading(projected(Q, CQ), min(2 * k, most - width))
            Q, CQ = Q @ Y, CQ @ Y
        W = self._residuals(s)[:, -width:]
        W = agent.mix(orthogonal_to(Q, W), self.block_rounds)
        W = orthogonal_to(Q, W)
        CW = agent.mix(agent.product(W), self.mix_rounds)
        return self._found(np.hstack([Q, W]), np.hstack([CQ, CW]), s.start)

    def _residuals(self, s: State) -> Array:
        """CV − VΘ in coordinates that no agent chooses for itself.

        Where two Ritz values are close, each agent has its own vectors for them; their
        span, and so R Vᵀ, is that of all.
        """
        _, Y = leading(projected(s.Q, s.CQ), s.V.shape[1])
        V, CV = s.Q @ Y, s.CQ @ Y
        return (CV - V @ (V.T @ CV)) @ (V.T @ s.start)  # type: ignore[no-any-return]

    def _found(self, Q: Array, CQ: Array, start: Array) -> State:
        """Rayleigh and Ritz in the basis Q."""
        values, Y = leading(projected(Q, CQ), start.shape[1])
        V, CV = Q @ Y, CQ @ Y
        size = float(np.linalg.norm(CV))
        residual = float(np.linalg.norm(CV - V * values)) / size if size > 0 else 0.0
        return State(Q, CQ, signed(V, start), values, start, residual)

    def solution(self, state: State) -> Array:
        """V."""
        return state.V

    def resolve(self, setting: Setting) -> Self:
        """M for the tolerance, M' that contract to 1e-3."""
        contraction = self.tolerance / setting.agents
        return replace(
            self,
            mix_rounds=resolved_rounds(setting, self.mix_rounds, contraction),
            block_rounds=resolved_rounds(setting, self.block_rounds, ALIKE),
        )


def projected(Q: Array, CQ: Array) -> Array:
    """QᵀCQ, where two columns meet from the product of the older one.

    When V has converged, R is rounding, a new block is what the agents could agree on
    of it, and its product is wrong by as much as they could not. V must not see that:
    what it has to do with the new block, V's own product tells.
    """
    older = np.triu(CQ.T @ Q)
    return older + np.triu(older, 1).T  # type: ignore[no-any-return]


def orthogonal_to(Q: Array, W: Array) -> Array:
    """Orthonormal columns for the part of W's span that is orthogonal to Q."""
    size = np.linalg.norm(W, axis=0)
    W = W / np.where(size > 0, size, 1.0).astype(W.dtype)
    for _ in range(3):  # a part that is small beside W needs more than one pass
        W = orthonormal(W - Q @ (Q.T @ W))
    return W
