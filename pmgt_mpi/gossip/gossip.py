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
        self._alone = not neighbourhood.neighbours
        self._make_exchange = exchange
        self._exchanges: dict[tuple[int, np.dtype[Any]], Exchange] = {}
        self._prepared: dict[tuple[int, tuple[int, ...], np.dtype[Any]], Rounds] = {}
        own = np.append(neighbourhood.weights, neighbourhood.own_weight)
        self._row_of_W = own.astype(float)

    def mix(self, x: Array, rounds: int) -> Array:
        """Run `rounds` rounds of the mixing polynomial on x; a new array."""
        if self._alone:
            return x.copy()
        start = perf_counter()
        run = self._prepared.get((rounds, x.shape, x.dtype))
        run = run or self._prepare(x, rounds)
        self.entered = start  # only now does the agent wait for others
        mixed = run(x)
        self.seconds += seconds_since(start)
        self.entered = 0.0
        return mixed

    def gossip(self, *arrays: Array) -> tuple[Array, ...]:
        """W x for each array, in one plain round: they share a message."""
        if len(arrays) == 1:
            return (self.mix(arrays[0], PLAIN),)
        packed = np.concatenate([array.reshape(-1) for array in arrays])
        ends = np.cumsum([array.size for array in arrays])[:-1]
        parts = np.split(self.mix(packed, PLAIN), ends)
        return tuple(map(np.reshape, parts, [array.shape for array in arrays]))

    def _prepare(self, x: Array, rounds: int) -> Rounds:
        """Make the function of so many rounds for arrays such as x, once."""
        run: Rounds = np.copy
        if rounds != 0:
            weights = self._weights(rounds).astype(x.dtype)
            run = self._exchange(x.size, x.dtype).rounds_of(weights, x.shape)
        self._prepared[rounds, x.shape, x.dtype] = run
        return run

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
        for exchange in self._exchanges.values():
            exchange.close()
