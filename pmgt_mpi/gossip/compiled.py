"""The exchange of the compiled engine: all rounds of a mix in one call."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from ctypes import addressof
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from pmgt_mpi.engine.library import ExchangeStruct, Library, MixStruct, address
from pmgt_mpi.gossip import EXCHANGES
from pmgt_mpi.gossip.exchange import Exchange, Rounds, aligned_rows
from pmgt_mpi.graphs.neighbourhood import Neighbourhood
from pmgt_mpi.mpi.library import MPI

Array = NDArray[Any]

HANDLES: dict[int, np.dtype[Any]] = {4: np.dtype(np.int32), 8: np.dtype(np.int64)}
"""A handle of MPI is an int or a pointer, by its size."""

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
        self._own = aligned_rows(3, size, dtype)
        self._theirs = aligned_rows(degree, size, dtype)
        self._ids = np.array(self.neighbours, np.int32)
        self._requests: list[Any] = []
        if persistent:
            for own in self._own:
                pairs = zip(self._theirs, self.neighbours, strict=True)
                self._requests += [comm.Recv_init(row, source) for row, source in pairs]
                self._requests += [
                    comm.Send_init(own, dest) for dest in self.neighbours
                ]
        unused = [MPI.REQUEST_NULL] * (6 * degree)
        self._handles = handles(self._requests or unused)
        self._statuses = np.zeros(2 * degree * MPI._sizeof(MPI.Status), np.uint8)
        comm_handle, datatype = handles([comm, DATATYPES[self._own.dtype]])
        self._struct = ExchangeStruct(
            isend=function_address("MPI_Isend"),
            irecv=function_address("MPI_Irecv"),
            startall=function_address("MPI_Startall"),
            testall=function_address("MPI_Testall"),
            comm=int(comm_handle),
            datatype=int(datatype),
            size=size,
            stride=self._own.strides[0] // self._own.itemsize,
            degree=degree,
            persistent=persistent,
            patient=self.nbytes <= EAGER,
            neighbours=address(self._ids),
            requests=address(self._handles),
            request_bytes=self._handles.itemsize,
            statuses=address(self._statuses),
            own=address(self._own),
            theirs=address(self._theirs),
        )

    @property
    def rounds(self) -> int:
        """Rounds done so far; C counts them."""
        return int(self._struct.rounds)

    @rounds.setter
    def rounds(self, rounds: int) -> None:
        self._struct.rounds = rounds

    def rounds_of(self, weights: Array, shape: tuple[int, ...]) -> Rounds:
        """Return the function that runs rounds with these weights, and counts them."""
        weights, rounds = np.ascontiguousarray(weights), len(weights)
        lengths = np.array(shape, np.intp)
        fitted = partial(fitting, shape, self._own.dtype)
        told = MixStruct(
            exchange=addressof(self._struct),
            weights=address(weights),
            rounds=rounds,
            nd=len(shape),
            shape=address(lengths),
            otherwise=id(fitted),
            exception=id(MPI.Exception),
        )
        return self._library.function(
            "mix", self._own.dtype, told, self, weights, lengths, fitted
        )

    def progress(self) -> int:
        """Return the rounds so far, of the mix that runs too."""
        return self.rounds

    def close(self) -> None:
        """Free the persistent requests."""
        for request in self._requests:
            request.Free()
        self._requests = []


def fitting(shape: tuple[int, ...], dtype: np.dtype[Any], x: Array) -> Array:
    """Return x as C takes it: a plain array, without gaps."""
    plain: Array = np.empty(shape, dtype)
    plain[...] = x
    return plain


def handles(objects: Sequence[Any]) -> Array:
    """Return the handles of MPI's objects as C keeps them in an array.

    mpi4py widens a handle that is an int, negative in MPICH for most of what a program
    makes, to 64 bits without a sign: its lower half is the handle.
    """
    wide = np.array([MPI._handleof(one) for one in objects], np.uint64)
    return wide.astype(HANDLES[MPI._sizeof(MPI.Request)])


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
