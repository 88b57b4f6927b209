"""Trading vectors with the neighbours, on buffers made once.

In the forms written in Python the vectors lie on a tape, one row after another:

    x^{k−1} | what the neighbours send in round k | x^k | … round k+1 … | x^{k+1} | …

The rows from x^{k−1} to x^k are all that round k needs, so the update is one product of
a weight vector with a contiguous block, written straight into the row that the next
round sends. Both forms of the exchange share the tape and the product, and so give the
same bits; they differ only in how messages are started.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import DTypeLike, NDArray

from pmgt_mpi.graphs.neighbourhood import Neighbourhood

Array = NDArray[Any]
Rounds = Callable[[Array], Array]
"""Some gossip rounds, of a vector: gives a new one."""

SLOTS = 8
"""Rounds that fit on the tape before its last two vectors are copied to its start."""


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
        every neighbour. What `rounds_of` gives counts them, and nobody else does.
    nbytes
        Bytes of one message.
    """

    def __init__(
        self, comm: Any, neighbourhood: Neighbourhood, size: int, dtype: DTypeLike
    ) -> None:
        self.comm = comm
        self.neighbours = neighbourhood.neighbours
        self.rounds = 0
        self.nbytes = size * np.dtype(dtype).itemsize

    @abstractmethod
    def rounds_of(self, weights: Array) -> Rounds:
        """Give the function that runs rounds with these weights, and counts them.

        Parameters
        ----------
        weights
            One row for each round: the weights of x^{k−1}, of each neighbour's x^k in
            order of id, and of the own x^k. The first round has no x^{k−1}, and its
            weight is not read.
        """

    def close(self) -> None:  # noqa: B027 (most forms hold nothing)
        """Free what MPI holds for this exchange."""


class TapeExchange(Exchange):
    """Rounds in Python, each one product with a block of the tape."""

    def __init__(
        self, comm: Any, neighbourhood: Neighbourhood, size: int, dtype: DTypeLike
    ) -> None:
        super().__init__(comm, neighbourhood, size, dtype)
        stride = len(self.neighbours) + 1
        tape = np.zeros(((SLOTS + 1) * stride + 1, size), dtype)
        # Slot s reads the block from iterate s to iterate s + 1, writes iterate s + 2.
        self._iterates = [tape[s * stride] for s in range(SLOTS + 2)]
        self._blocks = [tape[s * stride : (s + 1) * stride + 1] for s in range(SLOTS)]
        self._trades = [
            self._trade(block[-1], list(block[1:-1])) for block in self._blocks
        ]

    def rounds_of(self, weights: Array) -> Rounds:
        """Give the function that runs rounds with these weights, and counts them."""
        iterates, rounds = self._iterates, len(weights)
        steps = []
        for k, w in enumerate(weights):
            slot = k % SLOTS
            block, out = self._blocks[slot], iterates[slot + 2]
            if k == 0:  # there is no x^{k−1} yet
                w, block = w[1:], block[1:]
            steps.append((self._trades[slot], w.dot, block, out))
        passes = [steps[k : k + SLOTS] for k in range(0, rounds, SLOTS)]
        first, result = iterates[1], iterates[(rounds - 1) % SLOTS + 2]

        def run(x: Array) -> Array:
            first[...] = x
            for number, some in enumerate(passes):
                if number:
                    iterates[0][...] = iterates[SLOTS]
                    iterates[1][...] = iterates[SLOTS + 1]
                for trade, product, block, out in some:
                    trade()
                    product(block, out)
            self.rounds += rounds
            mixed: Array = result.copy()
            return mixed

        return run

    @abstractmethod
    def _trade(self, own: Array, theirs: list[Array]) -> Callable[[], None]:
        """Give what sends a row to all neighbours and receives theirs into rows."""


class IsendExchange(TapeExchange):
    """Nonblocking Isend and Irecv, started anew in every round."""

    def _trade(self, own: Array, theirs: list[Array]) -> Callable[[], None]:
        comm, neighbours = self.comm, self.neighbours

        def trade() -> None:
            requests = [
                comm.Irecv(row, source)
                for row, source in zip(theirs, neighbours, strict=True)
            ]
            requests += [comm.Isend(own, dest) for dest in neighbours]
            MPI.Request.Waitall(requests)

        return trade


class PersistentExchange(TapeExchange):
    """Persistent requests, made once for every slot of the tape."""

    def __init__(
        self, comm: Any, neighbourhood: Neighbourhood, size: int, dtype: DTypeLike
    ) -> None:
        self._requests: list[list[Any]] = []
        super().__init__(comm, neighbourhood, size, dtype)

    def _trade(self, own: Array, theirs: list[Array]) -> Callable[[], None]:
        pairs = zip(theirs, self.neighbours, strict=True)
        requests = [self.comm.Recv_init(row, source) for row, source in pairs]
        requests += [self.comm.Send_init(own, dest) for dest in self.neighbours]
        self._requests.append(requests)
        start_all, wait_all = MPI.Prequest.Startall, MPI.Request.Waitall

        def trade() -> None:
            start_all(requests)
            wait_all(requests)

        return trade

    def close(self) -> None:
        """Free the persistent requests."""
        for requests in self._requests:
            for request in requests:
                request.Free()
        self._requests = []
