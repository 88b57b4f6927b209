"""Shift-and-invert for one vector after the other: what two methods share."""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import ceil, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.agent import Agent
from pmgt_mpi.algorithms import ALGORITHMS
from pmgt_mpi.algorithms.eigenvectors.subspace import Found, orthonormal
from pmgt_mpi.errors import UserError

Array = NDArray[Any]

ABOVE = 1.1
"""The first shift, in traces of C: λ_1 is at most one."""

SOLVES = 4
"""In a stage: with 2 the gap is overestimated so much that half of it is too far."""

FAST = 0.4
"""How much nearer w comes by a solve, from which on the shift stays: r = 1.5."""

SHRINKS = 0.42
"""What is left of c − λ_1 after a stage, at the least."""

TUNED_STEP = 1.3
"""Times 1/c, which is at most 1/L: as `auto` of the inner method."""


@dataclass(frozen=True)
class State:
    """Where the search is, in the letters of the docstrings.

    `found` holds the vectors that are done in its first `done` columns, `old` is the
    last right-hand side, `length` is ‖z‖, `move` is ‖w − old‖ of the last two solves.
    """

    start: Array
    found: Array
    values: Array
    residuals: Array
    done: int
    w: Array
    old: Array
    length: float
    move: Array
    c: float
    top: float
    stage: int
    solves: int
    searching: int


@dataclass(frozen=True)
class Inverse:
    """Shift-and-invert with an inner method, all parameters numbers.

    Parameters
    ----------
    inner, batch_size, mix_rounds
        The method that solves the systems, its b and M.
    tolerance
        ‖w − w'‖ at which a vector is done.
    agree_rounds
        Plain rounds in which a flag gets to every agent.
    exact_rounds
        Rounds after which a mean is one to rounding.
    """

    inner: str
    batch_size: int
    mix_rounds: int
    tolerance: float
    agree_rounds: int
    exact_rounds: int

    def init(self, agent: Agent, x0: Array) -> State:
        """c = 1.1 tr C, which all agents come to know."""
        trace = np.array([agent.trace()])
        c = ABOVE * float(agent.mix(trace, self.exact_rounds)[0])
        k = x0.shape[1]
        return State(
            start=x0,
            found=np.zeros_like(x0),
            values=np.zeros(k),
            residuals=np.full(k, c),
            done=0,
            w=x0[:, 0],
            old=x0[:, 0],
            length=0.0,
            move=np.array([1.0, 1.0]),
            c=c,
            top=c,
            stage=0,
            solves=0,
            searching=1,
        )

    def epochs(self, stage: int) -> tuple[int, float]:
        """E and the τ of the inner method, for the least c − λ_1 of this stage.

        They depend on the number of the stage alone: all agents take as many rounds.
        """
        ratio = (1 - 1 / ABOVE) * SHRINKS**stage
        tau = min(0.5, 0.8 * sqrt(TUNED_STEP * ratio))
        return ceil(1 / tau), tau

    def step(self, agent: Agent, s: State) -> State:
        """One solve; after four of them in a stage, what all agents agree on."""
        z = self._solve(agent, s)
        V = s.found[:, : s.done]
        z = z - V @ (V.T @ z)
        length = float(np.linalg.norm(z))
        w = z / length
        move = np.array([s.move[1], np.linalg.norm(w - s.w)])
        values, residuals = s.values.copy(), s.residuals.copy()
        cosine = float(w @ s.w)
        values[s.done] = s.c - cosine / length
        residuals[s.done] = np.linalg.norm(s.w - cosine * w) / length
        s = replaced(
            s, w=w, old=s.w, length=length, move=move, values=values,
            residuals=residuals, solves=s.solves + 1,
        )  # fmt: skip
        return self._meet(agent, s) if s.solves % SOLVES == 0 else s

    def _solve(self, agent: Agent, s: State) -> Array:
        """(c I − PCP) z = w, warm started: w/(c − ρ), ρ the Rayleigh quotient of w."""
        epochs, tau = self.epochs(s.stage)
        step = TUNED_STEP / s.c
        method = inner_method(
            self.inner,
            batch_size=self.batch_size,
            step_size=step,
            momentum=tau,
            mix_rounds=self.mix_rounds,
        )
        z = s.w / s.c if s.length == 0 else s.w * (s.length / float(s.w @ s.old))
        with agent.shifted(s.c, s.w, s.found[:, : s.done]):
            state = method.init(agent, z)
            for _ in range(epochs):
                state = method.step(agent, state)
        return method.solution(state)  # type: ignore[no-any-return]

    def _meet(self, agent: Agent, s: State) -> State:
        """Agree on the shift, and whether this vector is done."""
        far = s.move[1] > self.tolerance
        slow = s.move[1] > FAST * s.move[0] and s.move[1] > sqrt(self.tolerance)
        flags = np.array([float(far), float(slow)])
        for _ in range(self.agree_rounds):
            flags = (agent.gossip(flags) + flags > 0).astype(float)
        far, slow = flags > 0
        if not far and s.done + 1 < s.start.shape[1]:
            return self._next(s)
        if not (s.searching and slow):
            return replaced(s, searching=0)
        # 1/⟨w, z⟩ is at least c − λ_1, and by now not much more: half of it is safe.
        gap = float(s.w @ s.old) / s.length
        c = float(agent.mix(np.array([s.c - gap / 2]), self.exact_rounds)[0])
        # In terms of the new shift w is what it was, and so is ρ.
        length = float(s.w @ s.old) / (gap - (s.c - c))
        return replaced(s, c=c, length=length, stage=s.stage + 1)

    def _next(self, s: State) -> State:
        """Keep w, and begin with the next vector, at the shift that there is."""
        found = s.found.copy()
        found[:, s.done] = s.w
        done = s.done + 1
        found[:, :done] = orthonormal(found[:, :done])
        V = found[:, :done]
        w = s.start[:, done] - V @ (V.T @ s.start[:, done])
        w /= np.linalg.norm(w)
        return replaced(
            s, found=found, done=done, w=w, old=w, length=0.0, searching=1, solves=0,
            move=np.array([1.0, 1.0]),
        )  # fmt: skip

    def found(self, s: State) -> Found:
        """What is done, the vector that is looked for, and the rest of the start."""
        V = s.found.copy()
        V[:, s.done] = s.w
        V[:, s.done + 1 :] = s.start[:, s.done + 1 :]
        known = s.done + 1 == s.start.shape[1] and not s.searching
        rho = float(s.values[s.done])
        # FAST bounds (c − λ_1)/(c − λ_2), and so λ_1 − λ_2 by c − λ_1; half of that, as
        # it was seen on solves that are not exact.
        beyond = rho - 0.5 * (1 / FAST - 1) * (s.c - rho) if known else rho
        return Found(orthonormal(V), s.values, s.residuals, beyond)


def replaced(s: State, **changes: Any) -> State:
    """A state with some other values."""
    return State(**{**vars(s), **changes})


def inner_method(name: str, **numbers: float) -> Any:
    """Make a registered method with these of its parameters; others have defaults."""
    kind = ALGORITHMS.load(name)
    own = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    method = kind(**{key: value for key, value in numbers.items() if key in own})
    words = [key for key in own if isinstance(getattr(method, key), str)]
    proof = kind.traits.convex  # type: ignore[attr-defined]
    if words or proof != "mean":
        raise UserError(
            f"inner = '{name}': expected a method for nonconvex f_ij whose parameters "
            "are a batch size, a step size, a momentum and rounds; take "
            "'pmgt-katyushax', 'pmgt-svrg' or 'sonata'"
        )
    return method
