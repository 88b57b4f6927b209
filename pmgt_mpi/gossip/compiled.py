"""The exchange of the compiled engine: all rounds of a mix in one call."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from pmgt_mpi.engine.library import Library
from pmgt_mpi.gossip import EXCHANGES
from pmgt_mpi.gossip.exchange import Exchange, Rounds, aligned_rows
from pmgt_mpi.graphs.neighbourhood import Neighbourhood
from pmgt_mpi.mpi.library import MPI

Array = NDArray[Any]

HANDLES: dict[int, np.dtype[Any]] = {
    4: np.dtype(np.uint32),
    8: np.dtype(np.uint64),
}
"""A handle of MPI is an int or a pointer, by its size."""

FUNCTIONS = ("MPI_Isend", "MPI_Irecv", "MPI_Startall", "MPI_Testall")

EAGER = 4096
"""Bytes of a message that MPI hands over at once, so that a round need not wait until
it is gone. For a longer one a neighbour would have to wait while the sender computes.
"""

DATATYPES = {np.dtype(np.float64): MPI.DOUBLE, np.dtype(np.float32): MPI.FLOAT}


class CompiledExchange(Exchange):
    """Rounds in C: own vectors in three rows that change places, and the neighbours'.

    Parameters
    ----------
    library
        The compiled engine.
    comm, neighbourhood, size, dtype
        As for every exchange.
    persistent
        Whether requests are made once, or Isend and Irecv called in every round.
    """

    def __init__(
        self,
        library: Library,
        comm: Any,
        neighbourhood: Neighbourhood,
        size: int,
        dtype: DTypeLike,
        *,
        persistent: bool,
    ) -> None:
        super().__init__(comm, neighbourhood, size, dtype)
        degree = len(self.neighbours)
        self._library = library
        own = aligned_rows(3, size, dtype)
        theirs = aligned_rows(degree, size, dtype)
        self.received = theirs
        self._dtype = own.dtype
        self._rounds = np.zeros(1, np.int64)  # C counts them
        self._requests: list[Any] = []
        if persistent:
            for row in own:
                pairs = zip(theirs, self.neighbours, strict=True)
                self._requests += [
                    comm.Recv_init(into, source) for into, source in pairs
                ]
                self._requests += [
                    comm.Send_init(row, dest) for dest in self.neighbours
                ]
        unused = [MPI.REQUEST_NULL] * (6 * degree)
        self._handles = handles(self._requests or unused)
        comm_handle, datatype = handles([comm, DATATYPES[self._dtype]]).tolist()
        self._exchange = library.exchange(
            tuple(map(function_address, FUNCTIONS)),
            self._handles.itemsize,
            comm_handle,
            datatype,
            persistent,
            self.nbytes
            <= EAGER,  # patient: a round need not wait until its row is sent
            np.array(self.neighbours, np.int32),
            self._handles,
            np.zeros(2 * degree * MPI._sizeof(MPI.Status), np.uint8),
            own,
            theirs,
            self._rounds,
        )

    @property
    def rounds(self) -> int:
        """Rounds done so far."""
        return int(self._rounds[0])

    @rounds.setter
    def rounds(self, rounds: int) -> None:
        self._rounds[0] = rounds

    def rounds_of(self, weights: Array, shape: tuple[int, ...]) -> Rounds:
        """Return the functions that run rounds with these weights, and count them."""
        functions = self._library.mixer(
            self._exchange,
            np.ascontiguousarray(weights, self._dtype),
            shape,
            self._dtype,
            partial(np.array, dtype=self._dtype, order="C"),
            MPI.Exception,
        )
        return Rounds(*functions)

    def progress(self) -> int:
        """Return the rounds so far, of the mix that runs too."""
        return self.rounds

    def close(self) -> None:
        """Free the persistent requests."""
        for request in self._requests:
            request.Free()
        self._requests = []


def handles(objects: Sequence[Any]) -> Array:
    """Return the handles of MPI's objects as C keeps them in an array.

    One that is an int may be negative, or widened to 64 bits without its sign: its
    lower half is the handle.
    """
    words = [one.handle & (2**64 - 1) for one in objects]
    return np.array(words, np.uint64).astype(HANDLES[MPI._sizeof(MPI.Request)])


def function_address(name: str) -> int:
    """Where a function of the loaded MPI library is.

    A library that was preloaded to stand between the program and MPI, as a profiler is,
    comes first, as it does for mpi4py.
    """
    for scope in (None, MPI.__file__):
        function = getattr(ctypes.CDLL(scope), name, None)
        if function is not None:
            return ctypes.cast(function, ctypes.c_void_p).value or 0
    raise LookupError(f"no function {name} in the MPI library of mpi4py")


def compiled_exchange(library: Library, form: str) -> Callable[..., Exchange]:
    """Return what makes exchanges of a form: in C, or for other types in Python."""

    def make(
        comm: Any, neighbourhood: Neighbourhood, size: int, dtype: DTypeLike
    ) -> Exchange:
        if np.dtype(dtype) not in DATATYPES:
            plain: Exchange = EXCHANGES.load(form)(comm, neighbourhood, size, dtype)
            return plain
        return CompiledExchange(
            library, comm, neighbourhood, size, dtype, persistent=form == "persistent"
        )

    return make
