"""The gossip of one agent: mixing, plain rounds, and their cost."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from pmgt_mpi.clock import seconds_since
from pmgt_mpi.gossip.exchange import Exchange, Rounds
from pmgt_mpi.gossip.polynomials import Mixing, coefficients
from pmgt_mpi.graphs.neighbourhood import Neighbourhood

Array = NDArray[Any]

PLAIN = -1
"""In place of a number of rounds: one round of W alone."""


class Traffic(NamedTuple):
    """What one agent sent over one edge, or over all of them."""

    messages: int
    bytes: int


Kind = tuple[int, tuple[int, ...], np.dtype[Any]]
"""Of mix: how many rounds, the shape and the type of the array."""

UNFINISHED = (
    "a mix was started and not waited for: call wait() of what start_mix or "
    "start_gossip returned before the next mix, and within the step"
)


UNDER_WAY: set[Started] = set()
"""Mixes that were started and not waited for. MPI may write to their buffers as long as
the messages travel, so these stay even if an error has made everybody else forget them.
"""


def no_rounds() -> Rounds:
    """Return the functions that make a copy."""
    kept: list[Array] = []
    return Rounds(np.copy, lambda x: kept.append(x.copy()), kept.pop)


class Started:
    """A mix whose first messages are under way; `wait` returns its result, once.

    Made once for each kind of mix.
    """

    __slots__ = ("_finish", "_gossip", "run", "start")

    def __init__(self, gossip: Gossip, rounds: Rounds) -> None:
        self.run, self.start, self._finish = rounds
        self._gossip = gossip

    def wait(self) -> Array:
        """Wait for the messages and run the rounds that are left; a new array."""
        gossip = self._gossip
        if gossip.started is not self:
            raise RuntimeError("wait() was called twice for one mix")
        gossip.entered = start = perf_counter()
        mixed = self._finish()
        gossip.started = None
        UNDER_WAY.discard(self)
        if not gossip.alone:
            gossip.seconds += seconds_since(start)
        gossip.entered = 0.0
        return mixed


class Gossip:
    """All that an agent can do on the network; the only owner of its row of W.

    Parameters
    ----------
    comm
        Communicator in which rank and agent id are the same; only point-to-point
        messages along the edges are sent on it.
    neighbourhood
        This agent's row of W.
    mixing
        The polynomial that `mix` runs.
    exchange
        Class of the exchanges: one is made for each size of message.

    Attributes
    ----------
    seconds
        Spent here so far.
    entered
        When the mix that runs began, and zero if none runs: for the watchdog, which
        looks on from another thread.
    started
        The mix that was started and not waited for, if there is one.
    alone
        Whether there are no neighbours.
    """

    def __init__(
        self,
        comm: Any,
        neighbourhood: Neighbourhood,
        mixing: Mixing,
        exchange: Callable[[Any, Neighbourhood, int, DTypeLike], Exchange],
    ) -> None:
        self.comm = comm
        self.neighbourhood = neighbourhood
        self.mixing = mixing
        self.seconds = 0.0
        self.entered = 0.0
        self.started: Started | None = None
        self.alone = not neighbourhood.neighbours
        self._make_exchange = exchange
        self._exchanges: dict[tuple[int, np.dtype[Any]], Exchange] = {}
        self._prepared: dict[Kind, Started] = {}
        own = np.append(neighbourhood.weights, neighbourhood.own_weight)
        self._row_of_W = own.astype(float)

    def mix(self, x: Array, rounds: int) -> Array:
        """Run `rounds` rounds of the mixing polynomial on x; a new array."""
        if self.started is not None:
            self.refuse_unfinished()
        if self.alone:
            return x.copy()
        start = perf_counter()
        prepared = self._prepared.get((rounds, x.shape, x.dtype))
        prepared = prepared or self._prepare(x, rounds)
        self.entered = start  # only now does the agent wait for others
        mixed = prepared.run(x)
        self.seconds += seconds_since(start)
        self.entered = 0.0
        return mixed

    def start_mix(self, x: Array, rounds: int) -> Started:
        """Begin `mix`: the handle's `wait` returns its result, with the same bits.

        The messages of the first round travel meanwhile; further rounds are for `wait`.
        There is one at a time: any other mix before `wait` is an error.
        """
        if self.started is not None:
            self.refuse_unfinished()
        start = perf_counter()
        started = self._prepared.get((rounds, x.shape, x.dtype))
        started = started or self._prepare(x, rounds)
        self.entered = start
        UNDER_WAY.add(started)
        started.start(x)
        self.started = started
        if not self.alone:
            self.seconds += seconds_since(start)
        self.entered = 0.0
        return started

    def start_gossip(self, x: Array) -> Started:
        """Begin one plain round."""
        return self.start_mix(x, PLAIN)

    def refuse_unfinished(self) -> None:
        """Say so if a mix that was started was not waited for."""
        if self.started is not None:
            raise RuntimeError(UNFINISHED)

    def gossip(self, *arrays: Array) -> tuple[Array, ...]:
        """W x for each array, in one plain round: they share a message."""
        if len(arrays) == 1:
            return (self.mix(arrays[0], PLAIN),)
        return self.mix_together(PLAIN, *arrays)

    def mix_together(self, rounds: int, *arrays: Array) -> tuple[Array, ...]:
        """Mix each array, in rounds whose messages they share."""
        packed = np.concatenate([array.reshape(-1) for array in arrays])
        ends = np.cumsum([array.size for array in arrays])[:-1]
        parts = np.split(self.mix(packed, rounds), ends)
        return tuple(map(np.reshape, parts, [array.shape for array in arrays]))

    def disagreement(self, x: Array) -> Array:
        """Σ_l w_il (x − x_l) over the neighbours l, which is x − W x; one plain round.

        Its rounding is that of the differences, and so none where all agents agree:
        what a method adds up of it does not drift.
        """
        self.mix(x, PLAIN)
        if self.alone:
            return np.zeros_like(x)
        theirs = self._exchange(x.size, x.dtype).received
        weights = self.neighbourhood.weights.astype(x.dtype)
        apart: Array = weights @ (x.reshape(-1) - theirs)
        return apart.reshape(x.shape)

    def largest(self, value: float, rounds: int) -> float:
        """Return the largest value within so many edges, a plain round for each.

        What such a round mixes is not used: the numbers that came are.
        """
        if self.alone:
            return value
        own = np.array([value])
        for _ in range(rounds):
            self.mix(own, PLAIN)
            own[0] = max(own[0], self._exchange(1, own.dtype).received.max())
        return float(own[0])

    def _prepare(self, x: Array, rounds: int) -> Started:
        """Make the functions of so many rounds for arrays such as x, once."""
        if self.alone or rounds == 0:
            functions = no_rounds()
        else:
            weights = self._weights(rounds).astype(x.dtype)
            functions = self._exchange(x.size, x.dtype).rounds_of(weights, x.shape)
        prepared = self._prepared[rounds, x.shape, x.dtype] = Started(self, functions)
        return prepared

    @property
    def rounds(self) -> int:
        """Gossip rounds so far."""
        return sum(exchange.rounds for exchange in self._exchanges.values())

    @property
    def progress(self) -> tuple[float, int]:
        """When the mix that runs began, and what changes while it runs.

        For the watchdog's thread; a mix may take longer than an agent may wait.
        """
        exchanges = list(self._exchanges.values())
        return self.entered, sum(exchange.progress() for exchange in exchanges)

    @property
    def sent(self) -> Traffic:
        """Messages and bytes sent so far, over all edges."""
        degree = len(self.neighbourhood.neighbours)
        edge = self._edge()
        return Traffic(degree * edge.messages, degree * edge.bytes)

    def edges(self) -> dict[int, Traffic]:
        """For each neighbour what was sent to it."""
        return dict.fromkeys(self.neighbourhood.neighbours, self._edge())

    def _edge(self) -> Traffic:
        # A round sends one message to every neighbour.
        exchanges = self._exchanges.values()
        return Traffic(self.rounds, sum(e.rounds * e.nbytes for e in exchanges))

    def _exchange(self, size: int, dtype: np.dtype[Any]) -> Exchange:
        exchange = self._exchanges.get((size, dtype))
        if exchange is None:
            exchange = self._make_exchange(self.comm, self.neighbourhood, size, dtype)
            self._exchanges[size, dtype] = exchange
        return exchange

    def _weights(self, rounds: int) -> Array:
        """Weights of x^{k−1}, the neighbours and the own x^k, a row for each round."""
        here = self.neighbourhood
        if rounds == PLAIN:
            return np.append(0.0, self._row_of_W)[np.newaxis]
        terms = coefficients(self.mixing, rounds, here.lambda_2, here.lambda_min)
        rows = [np.append(e, c * self._row_of_W) for c, _, e in terms]
        weights = np.array(rows)
        weights[:, -1] += terms[:, 1]
        return weights

    def snapshot(self) -> dict[str, Any]:
        """Rounds of each size of message and seconds, as numbers that JSON can hold."""
        self.refuse_unfinished()
        rounds = [
            (size, dtype.str, exchange.rounds)
            for (size, dtype), exchange in self._exchanges.items()
        ]
        return {"seconds": self.seconds, "rounds": rounds}

    def restore(self, snapshot: dict[str, Any]) -> None:
        """Count on from where `snapshot` was taken."""
        self.seconds = snapshot["seconds"]
        for exchange in self._exchanges.values():
            exchange.rounds = 0
        for size, dtype, rounds in snapshot["rounds"]:
            self._exchange(size, np.dtype(dtype)).rounds = rounds

    def close(self) -> None:
        """Free what MPI holds for the exchanges."""
        self.refuse_unfinished()
        for exchange in self._exchanges.values():
            exchange.close()
