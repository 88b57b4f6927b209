"""Trading vectors with the neighbours, on buffers made once.

In the forms written in Python the vectors lie on a tape, one row after another:

    x^{k−1} | what the neighbours send in round k | x^k | … round k+1 … | x^{k+1} | …

The rows from x^{k−1} to x^k are all that round k needs, so the update is one product of
a weight vector with a contiguous block, written straight into the row that the next
round sends. Both forms of the exchange share the tape and the product, and so have the
same bits; they differ only in how messages are started.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import partial
from operator import length_hint
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from pmgt_mpi.graphs.neighbourhood import Neighbourhood
from pmgt_mpi.mpi.library import MPI

Array = NDArray[Any]

SLOTS = 8
"""Rounds that fit on the tape before its last two vectors are copied to its start."""

LONG = 1 << 18
"""Bytes of a tape from which on it has half as many slots, to stay in the cache."""

LINE = 64
"""Bytes of a cache line, or a multiple of it."""


def tape_shape(degree: int, nbytes: int) -> tuple[int, int]:
    """Slots and rows of the tape of an agent with so many neighbours.

    Slot s holds the neighbours' vectors of one round, between iterates s and s + 1; the
    last slot writes iterate `slots` + 1.
    """
    for slots in (SLOTS, SLOTS // 2):
        rows = (slots + 1) * (degree + 1) + 1
        if rows * nbytes <= LONG:
            break
    return slots, rows


def aligned_rows(rows: int, size: int, dtype: DTypeLike) -> NDArray[Any]:
    """Return rows of zeros that all start at multiples of `LINE`, on every agent.

    Where two processes of a host trade long vectors, the kernel copies from one's row
    to the other's. Some processors do that at a third of their speed if the rows'
    places within a page differ by 16 bytes, as those of two arrays may by chance.
    """
    dtype = np.dtype(dtype)
    in_line = LINE // dtype.itemsize
    stride = -(-size // in_line) * in_line
    room = np.zeros(rows * stride + in_line, dtype)
    start = -room.ctypes.data % LINE // dtype.itemsize
    return room[start : start + rows * stride].reshape(rows, stride)[:, :size]


class Rounds(NamedTuple):
    """Some gossip rounds: in one call, or in two with other work between them.

    Attributes
    ----------
    run
        Takes a vector, returns a new one.
    start
        Takes the vector, and starts the messages of the first round.
    finish
        Does the rest, and returns the new vector. Between the two there may be no other
        call of this exchange.
    """

    run: Callable[[Array], Array]
    start: Callable[[Array], None]
    finish: Callable[[], Array]


class Exchange(ABC):
    """Gossip rounds for vectors of one size and type.

    Parameters
    ----------
    comm
        Communicator in which rank and agent id are the same.
    neighbourhood
        This agent's row of W.
    size, dtype
        Of the vectors.

    Attributes
    ----------
    rounds
        Rounds done so far; each sends one message to and receives one message from
        every neighbour. What `rounds_of` returns counts them, and nobody else does.
    nbytes
        Bytes of one message.
    received
        After a mix of one round, what each neighbour sent: a row for each.
    """

    rounds: int = 0
    received: Array

    def __init__(
        self, comm: Any, neighbourhood: Neighbourhood, size: int, dtype: DTypeLike
    ) -> None:
        self.comm = comm
        self.neighbours = neighbourhood.neighbours
        self.nbytes = size * np.dtype(dtype).itemsize

    @abstractmethod
    def rounds_of(self, weights: Array, shape: tuple[int, ...]) -> Rounds:
        """Return the functions that run rounds with these weights, and count them.

        Parameters
        ----------
        weights
            One row for each round: the weights of x^{k−1}, of each neighbour's x^k in
            order of id, and of the own x^k. The first round has no x^{k−1}, and its
            weight is not read.
        shape
            Of the arrays that the functions take and return; their size is the
            exchange's.
        """

    @abstractmethod
    def progress(self) -> int:
        """Return a number that changes while rounds are done; from any thread."""

    def close(self) -> None:  # noqa: B027 (most forms hold nothing)
        """Free what MPI holds for this exchange."""


class Trade(NamedTuple):
    """The messages of one round: what one slot of the tape sends and receives.

    Attributes
    ----------
    starts
        Calls that start them.
    arrivals
        Calls that wait for the neighbours' vectors.
    departures
        Calls that wait until the own vector is sent. The round itself need not: it must
        be so before the slot is used again.
    """

    starts: list[Callable[[], Any]]
    arrivals: list[Callable[[], Any]]
    departures: list[Callable[[], Any]]


class TapeExchange(Exchange):
    """Rounds in Python, each one product with a block of the tape."""

    def __init__(
        self, comm: Any, neighbourhood: Neighbourhood, size: int, dtype: DTypeLike
    ) -> None:
        super().__init__(comm, neighbourhood, size, dtype)
        degree = len(self.neighbours)
        self._running: Iterator[Callable[[], Any]] = iter(())
        self._slots, rows = tape_shape(degree, self.nbytes)
        # Without gaps between the rows: numpy would close them in every product.
        tape = aligned_rows(1, rows * size, dtype).reshape(rows, size)
        stride = degree + 1
        # Slot s reads the block from iterate s to iterate s + 1, writes iterate s + 2.
        self._iterates = [tape[s * stride] for s in range(self._slots + 2)]
        self._blocks = [
            tape[s * stride : (s + 1) * stride + 1] for s in range(self._slots)
        ]
        self.received = self._blocks[0][1:-1]
        self._trades = [
            self._trade(block[-1], list(block[1:-1])) for block in self._blocks
        ]

    def rounds_of(self, weights: Array, shape: tuple[int, ...]) -> Rounds:
        """Return the functions that run rounds with these weights, and count them."""
        iterates, slots, rounds = self._iterates, self._slots, len(weights)
        calls: list[Callable[[], Any]] = []  # all that a mix does, one after another
        departures: list[Callable[[], Any]] = []
        for k, w in enumerate(weights):
            slot = k % slots
            if k > 0 and slot == 0:  # the tape is full
                calls += departures
                departures = []
                for start in (0, 1):
                    end = iterates[slots + start]
                    calls.append(partial(iterates[start].__setitem__, ..., end))
            trade, block = self._trades[slot], self._blocks[slot]
            calls += trade.starts + trade.arrivals
            departures += trade.departures
            if k == 0 or w[0] == 0:  # there is no x^{k−1} yet, or it has no weight
                w, block = w[1:], block[1:]
            calls.append(partial(w.dot, block, iterates[slot + 2]))
        # The last product makes a new array: what is given back.
        last, read = w.dot, block
        calls[-1:] = departures
        posted = len(self._trades[0].starts)
        first, flat = iterates[1].reshape(shape), len(shape) == 1

        def make(calls: list[Callable[[], Any]]) -> Array:
            self._running = iter(calls)
            for call in self._running:
                call()
            self.rounds += rounds
            mixed: Array = last(read)
            return mixed if flat else mixed.reshape(shape)

        def begin(x: Array) -> None:
            first[...] = x
            for call in calls[:posted]:
                call()

        def run(x: Array) -> Array:
            first[...] = x
            return make(calls)

        return Rounds(run, begin, partial(make, calls[posted:]))

    def progress(self) -> int:
        """Return how many calls of the mix that runs are still to be made."""
        return length_hint(self._running)

    @abstractmethod
    def _trade(self, own: Array, theirs: list[Array]) -> Trade:
        """Return what sends a row to all neighbours and receives theirs into rows."""


class IsendExchange(TapeExchange):
    """Nonblocking Isend and Irecv, started again in every round."""

    def _trade(self, own: Array, theirs: list[Array]) -> Trade:
        comm, neighbours = self.comm, self.neighbours
        requests: list[Any] = []

        def start() -> None:
            requests[:] = [
                comm.Irecv(row, source)
                for row, source in zip(theirs, neighbours, strict=True)
            ]
            requests.extend([comm.Isend(own, dest) for dest in neighbours])

        return Trade([start], [partial(MPI.Request.Waitall, requests)], [])


class PersistentExchange(TapeExchange):
    """Persistent requests, made once for every slot of the tape.

    They are started and waited for one by one: handing MPI a list costs mpi4py more.
    """

    def __init__(
        self, comm: Any, neighbourhood: Neighbourhood, size: int, dtype: DTypeLike
    ) -> None:
        self._requests: list[Any] = []
        super().__init__(comm, neighbourhood, size, dtype)

    def _trade(self, own: Array, theirs: list[Array]) -> Trade:
        pairs = zip(theirs, self.neighbours, strict=True)
        receives = [self.comm.Recv_init(row, source) for row, source in pairs]
        sends = [self.comm.Send_init(own, dest) for dest in self.neighbours]
        self._requests += receives + sends
        return Trade(
            starts=[request.Start for request in receives + sends],
            arrivals=[request.Wait for request in receives],
            departures=[request.Wait for request in sends],
        )

    def close(self) -> None:
        """Free the persistent requests."""
        for request in self._requests:
            request.Free()
        self._requests = []
