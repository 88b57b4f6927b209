"""The agent: all that an algorithm sees of the world."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.problems.base import Problem
from pmgt_mpi.problems.components import Components
from pmgt_mpi.problems.gradient_table import GradientTable, gradient_table
from pmgt_mpi.regularizers.base import Regularizer
from pmgt_mpi.streams import IndexStream, stream

Array = NDArray[Any]


class Started(Protocol):
    """A mix under way."""

    def wait(self) -> Array:
        """Return its result, once."""
        ...


class Network(Protocol):
    """What an agent needs of the gossip room."""

    def mix(self, x: Array, rounds: int) -> Array:
        """Rounds of the mixing polynomial."""
        ...

    def gossip(self, *arrays: Array) -> tuple[Array, ...]:
        """One plain round."""
        ...

    def mix_together(self, rounds: int, *arrays: Array) -> tuple[Array, ...]:
        """Rounds of the mixing polynomial, for arrays that share messages."""
        ...

    def disagreement(self, x: Array) -> Array:
        """x − W x without drift, in one plain round."""
        ...

    def largest(self, value: float, rounds: int) -> float:
        """Return the largest number of all within so many rounds."""
        ...

    def start_mix(self, x: Array, rounds: int) -> Started:
        """Begin a mix."""
        ...

    def start_gossip(self, x: Array) -> Started:
        """Begin a plain round of one array."""
        ...


class Agent:
    """One agent: its f_i, psi, its network and its random streams.

    It has no communicator, no rank to branch on and no evaluator, so that an algorithm
    can neither cheat nor be slowed by the metrics. Gradients are counted here and
    nowhere else, as the algorithm asks for them.

    Parameters
    ----------
    problem, regularizer
        f_i as a mean over the agent's own rows, and psi.
    gossip
        The agent's place in the network.
    weight
        m n_i / N, so that the mean over agents of weight · f_i is the mean over rows.
    n
        ceil(N / m), the same on every agent.
    seed, stream_name, agent_id
        Where the random streams come from.

    Attributes
    ----------
    gradients
        Component gradients evaluated so far: n_i for a full one, 2b for a difference.
    gradients_paper
        The same as the paper counts them: b for a difference.
    passes
        Over the rows for products and matrices; each counts n_i gradients too.
    """

    def __init__(
        self,
        problem: Problem,
        regularizer: Regularizer,
        gossip: Network,
        *,
        weight: float,
        n: int,
        seed: int,
        stream_name: str,
        agent_id: int,
    ) -> None:
        self._problem: Any
        self._difference: Callable[..., Array] | None
        self._table: GradientTable
        self._see(problem)
        self._regularizer = regularizer
        self._gossip = gossip
        self._weight = weight
        self.n = n
        self.gradients = 0
        self.gradients_paper = 0
        self.passes = 0
        purpose = f"algorithm {stream_name}"
        self._shared = stream(seed, purpose, 0)
        own = stream(seed, purpose, 1, agent_id)
        self._indices = IndexStream(own, problem.rows)
        self._own_chance = stream(seed, purpose, 2, agent_id)

    # The local functions.

    def grad(self, x: Array) -> Array:
        """∇f_i(x), the full local gradient."""
        self._count(self._problem.rows)
        return self._weighted(self._problem.grad(x))

    def minibatch(self, b: int) -> Array:
        """b of the agent's rows, uniform with replacement, from its own stream."""
        return self._indices.draw(b)

    def grad_difference(self, w: Array, w0: Array, rows: Array) -> Array:
        """(1/b) Σ_{j ∈ rows} (∇f_ij(w) − ∇f_ij(w0))."""
        self.gradients += 2 * len(rows)
        self.gradients_paper += len(rows)
        if self._difference is not None:
            return self._weighted(self._difference(w, w0, rows))
        problem = self._problem
        return self._weighted(
            problem.minibatch_grad(w, rows) - problem.minibatch_grad(w0, rows)
        )

    def remember(self, x: Array) -> tuple[Array, Array, Array]:
        """∇f_i(x), and φ_j = ∇f_ij(x) for every row j: SAGA's table, and its mean.

        The problem decides what a table holds (`gradient_table`); an algorithm keeps
        it, and the mean, in its state.
        """
        self._count(self._problem.rows)
        gradient, table, mean = self._table.fill(x)
        return self._weighted(gradient), table, mean

    def saga(
        self, x: Array, rows: Array, table: Array, mean: Array
    ) -> tuple[Array, Array]:
        """(1/b) Σ_{j ∈ rows} (∇f_ij(x) − φ_j) + mean of all φ, and the new mean.

        Then φ_j = ∇f_ij(x) for j in rows, in place: a row drawn twice is used twice
        and stored once.
        """
        self._count(len(rows))
        estimate, mean = self._table.update(x, rows, table, mean)
        return self._weighted(estimate), mean

    def product(self, V: Array) -> Array:
        """C_i V, of a problem whose answer is eigenvectors: a pass over the rows."""
        self._pass()
        return self._weighted(self._problem.product(V))

    def gram(self) -> Array:
        """C_i, d × d, of such a problem: a pass too; not to be changed."""
        self._pass()
        return self._weighted(self._problem.gram())

    def trace(self) -> float:
        """tr C_i, of such a problem: a pass too."""
        self._pass()
        return float(self._weight * self._problem.trace())

    @contextmanager
    def shifted(self, c: float, w: Array, V: Array) -> Iterator[None]:
        """Meanwhile f_i(z) = ½⟨z, (c I − PC_iP)z⟩ − ⟨w, z⟩, with P = I − VVᵀ.

        For methods that solve (c I − PCP) z = w by one that minimises.
        """
        own = self._problem, self._difference, self._table
        self._see(self._problem.shifted(c, w, V))
        try:
            yield
        finally:
            self._problem, self._difference, self._table = own

    def _see(self, problem: Problem) -> None:
        self._problem = problem
        self._difference = getattr(problem, "minibatch_difference", None)
        self._table = gradient_table(problem)

    def _pass(self) -> None:
        self.passes += 1
        self.gradients += self._problem.rows
        self.gradients_paper += self._problem.rows

    def prox(self, z: Array, eta: float) -> Array:
        """argmin_x psi(x) + ‖x − z‖² / (2 eta)."""
        return self._regularizer.prox(z, eta)

    # Single rows of a linear model with a convex loss: f_i is Σ_j h_j(⟨a_j, x⟩) and
    # (μ/2)‖x‖² + ⟨b, x⟩, as `pmgt_mpi.problems.components` has it.

    @cached_property
    def components(self) -> Components:
        """a_j, μ, and how smooth the h_j are."""
        return Components(self._problem, self._weight)

    def slopes(self, z: Array, rows: Array | None = None) -> Array:
        """h_j'(z_j) for each j in rows, or for all: as many component gradients."""
        self._count(len(z))
        return self.components.slopes(z, rows)

    def proximal_slope(self, r: Array, k: float, row: Array) -> Array:
        """h_j'(ζ) where ζ + k h_j'(ζ) = r, of one row: one component gradient."""
        self._count(len(row))
        return self.components.proximal_slope(r, k, row)

    def choose(self, cumulative: Array) -> Array:
        """One row, j with probability p_j, from the agent's own stream.

        `cumulative` are Σ_{l ≤ j} p_l, or a multiple of them.
        """
        drawn = self._own_chance.random() * cumulative[-1]
        at = min(int(cumulative.searchsorted(drawn, "right")), len(cumulative) - 1)
        return np.array([at])

    def _count(self, gradients: int) -> None:
        self.gradients += gradients
        self.gradients_paper += gradients

    def _weighted(self, gradient: Array) -> Array:
        return gradient if self._weight == 1.0 else self._weight * gradient

    # The network.

    def mix(self, x: Array, M: int) -> Array:
        """Mix x with M gossip rounds (the paper's FastMix, or a better polynomial)."""
        return self._gossip.mix(x, M)

    def gossip(self, x: Array) -> Array:
        """W x: one plain round."""
        return self._gossip.gossip(x)[0]

    def disagreement(self, x: Array) -> Array:
        """x − W x: one plain round, summed up edge by edge.

        For methods that add it up: no rounding is left in it where all agents agree.
        """
        return self._gossip.disagreement(x)

    def gossip_together(self, *arrays: Array) -> tuple[Array, ...]:
        """W x for each array, in one plain round: they share a message."""
        return self._gossip.gossip(*arrays)

    def mix_together(self, M: int, *arrays: Array) -> tuple[Array, ...]:
        """Mix each array with the same M gossip rounds: they share their messages."""
        return self._gossip.mix_together(M, *arrays)

    def largest(self, value: float, rounds: int) -> float:
        """Return the largest value of the agents that so many edges lead to, or fewer.

        After as many rounds as the graph's diameter all agents have the same. A round
        sends one number to each neighbour.
        """
        return self._gossip.largest(value, rounds)

    def start_mix(self, x: Array, M: int) -> Started:
        """Begin `mix`; `wait()` of what it returns has its result, the same bits.

        What is computed in between takes no time as long as the messages of the first
        round are under way. Wait for one mix before the next, and within the step.
        """
        return self._gossip.start_mix(x, M)

    def start_gossip(self, x: Array) -> Started:
        """Begin `gossip`, as `start_mix` begins `mix`."""
        return self._gossip.start_gossip(x)

    # Chance that all agents share without a message, and the agent's own.

    def geometric(self, p: float) -> int:
        """T ~ Geom(p) on {0, 1, 2, …}, the same number on every agent."""
        return int(self._shared.geometric(p)) - 1

    def coin(self, p: float) -> bool:
        """True with probability p, the same on every agent."""
        return bool(self._shared.random() < p)

    def own_coin(self, p: float) -> bool:
        """True with probability p, on this agent alone."""
        return bool(self._own_chance.random() < p)

    # What a checkpoint holds of an agent; an algorithm has no use for it.

    def snapshot(self) -> dict[str, Any]:
        """Counters and random streams, as numbers that JSON can hold."""
        return {
            "gradients": self.gradients,
            "gradients_paper": self.gradients_paper,
            "passes": self.passes,
            "shared": self._shared.bit_generator.state,
            "own": self._own_chance.bit_generator.state,
            "indices": self._indices.snapshot(),
        }

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Go back to where `snapshot` was taken, in the same place of every stream."""
        self.gradients = snapshot["gradients"]
        self.gradients_paper = snapshot["gradients_paper"]
        self.passes = snapshot.get("passes", 0)  # older ones are of methods without
        self._shared.bit_generator.state = snapshot["shared"]
        self._own_chance.bit_generator.state = snapshot["own"]
        self._indices.restore(snapshot["indices"])
