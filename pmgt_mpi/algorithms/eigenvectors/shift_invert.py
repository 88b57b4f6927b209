"""Shift-and-invert: one eigenvector, by systems that a method of the paper solves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt
from typing import Any, ClassVar, Literal, Self

from numpy.typing import NDArray

from pmgt_mpi.agent import Agent
from pmgt_mpi.algorithms.base import Setting
from pmgt_mpi.algorithms.eigenvectors.inverse import Inverse, State
from pmgt_mpi.algorithms.eigenvectors.subspace import Found, resolved_rounds
from pmgt_mpi.algorithms.traits import Cost, Traits
from pmgt_mpi.options import AUTO, AutoMixRounds, Count, Tolerance

Array = NDArray[Any]
NAME = "shift-invert"

TO_ROUNDING = 1e-15
"""Contraction of the few mixes of one number."""


@dataclass(frozen=True, kw_only=True)
class ShiftInvert:
    """Shift-and-invert (Garber et al. 2016): the leading eigenvector alone.

    One step is one solve, by an inner method for sums of nonconvex functions::

        (c I − C) z = w,    w ← z/‖z‖

    c > λ_1, so that f(z) = ½⟨z, (c I − C)z⟩ − ⟨w, z⟩ is convex though the terms of the
    rows are not: the application of Liu and Low's paper. Each agent has its own w. The
    inner method starts at w/(c − ρ), ρ the Rayleigh quotient that the solve before has
    shown, and takes about 1/τ epochs with its momentum τ: enough for a solve to gain
    what an exact one would, within a factor.

    The shift is found on the way. It starts at 1.1 tr C; a stage is four solves, after
    which c − ρ ≥ c − λ_1 is close; half of it is taken off c, until a solve brings w
    near by at least 2.5 times: then c − λ_1 is at most (λ_1 − λ_2)/1.5. Whether this is
    so the agents agree on by max-consensus, and c is mixed.

    Cost of a solve: n_i component gradients and M rounds to begin with, then epochs, as
    many as the number of the stage says. Four solves end with an agreement.

    Parameters
    ----------
    inner
        The method that solves the systems.
    batch_size
        Its b; ``"auto"`` are all rows, with which an epoch is one accelerated step.
    tolerance
        ‖w − w'‖ after a solve at which the vector is done.
    mix_rounds
        Its M; ``"auto"`` is made for how much one of m agents can differ.
    agree_rounds
        Plain rounds in which a flag gets to every agent; ``"auto"`` is m − 1.
    exact_rounds
        Of a mix that leaves nothing but rounding.

    References
    ----------
    D. Garber, E. Hazan, C. Jin, S. M. Kakade, C. Musco, P. Netrapalli and A. Sidford,
    "Faster Eigenvector Computation via Shift-and-Invert Preconditioning", ICML 2016.
    """

    traits: ClassVar[Traits] = Traits(
        source="Garber et al. 2016",
        cost=Cost(gradients="n + 2*b", paper="n + b", rounds="5*M", holds="column"),
        finds="eigenvectors",
        instead="lazysvd",
        single=True,
        in_stages=True,
    )
    one_by_one: ClassVar[bool] = True

    inner: Literal["pmgt-katyushax", "pmgt-svrg", "sonata"] = "pmgt-katyushax"
    batch_size: Count | Literal["auto"] = "auto"
    tolerance: Tolerance = 1e-10
    mix_rounds: AutoMixRounds = AUTO
    agree_rounds: AutoMixRounds = AUTO
    exact_rounds: AutoMixRounds = AUTO

    def init(self, agent: Agent, x0: Array) -> State:
        """c = 1.1 tr C."""
        return self.outer().init(agent, x0)

    def step(self, agent: Agent, s: State) -> State:
        """One solve."""
        return self.outer().step(agent, s)

    def solution(self, state: State) -> Array:
        """V."""
        return self.found(state).V

    def found(self, state: State) -> Found:
        """The eigenpairs, as far as they are known."""
        return self.outer().found(state)

    def outer(self) -> Inverse:
        """What this and `lazysvd` share."""
        return Inverse(
            inner=self.inner,
            batch_size=int(self.batch_size),
            mix_rounds=self.mix_rounds,
            tolerance=self.tolerance,
            agree_rounds=self.agree_rounds,
            exact_rounds=self.exact_rounds,
        )

    def resolve(self, setting: Setting) -> Self:
        """All rows for a batch, and rounds for what one of m agents can differ by."""
        enough = 1 / (1 + 2 * sqrt(setting.agents))
        exact = TO_ROUNDING / setting.agents
        agree, batch = self.agree_rounds, self.batch_size
        return replace(
            self,
            batch_size=setting.n if batch == "auto" else batch,
            mix_rounds=resolved_rounds(setting, self.mix_rounds, enough),
            agree_rounds=max(1, setting.agents - 1)
            if isinstance(agree, str)
            else agree,
            exact_rounds=resolved_rounds(setting, self.exact_rounds, exact),
        )
