"""The communicators that a process starts with, and what MPI says of itself."""

from __future__ import annotations

import platform
from typing import Any

from pmgt_mpi.environment import usable_cores
from pmgt_mpi.errors import UserError
from pmgt_mpi.mpi.library import MPI


def world() -> Any:
    """All ranks of the job."""
    return MPI.COMM_WORLD


def given_or_world(comm: Any) -> Any:
    """Return the communicator that a program gives; all ranks of the job without one.

    What is wrong with it is raised on the rank that has it: without a communicator
    there is nobody to agree with.
    """
    if comm is None:
        return MPI.COMM_WORLD
    if comm == MPI.COMM_NULL:
        raise UserError(
            "solve: comm is COMM_NULL, which has no ranks: let those alone call solve "
            "that are in the communicator"
        )
    if not isinstance(comm, MPI.Intracomm):
        raise UserError(
            f"solve: comm is of type {type(comm).__name__}: expected an "
            "intracommunicator of mpi4py, such as MPI.COMM_WORLD"
        )
    return comm


def alone() -> Any:
    """Nobody but this rank."""
    return MPI.COMM_SELF


def agent_communicator(comm: Any, agent: int | None = None) -> Any:
    """Return a communicator whose ranks are the agents' ids; collective."""
    return comm.Split(0, key=comm.rank if agent is None else agent)


def place() -> tuple[str, frozenset[int]]:
    """Host of this rank, and the cores that it may use there."""
    return platform.node(), usable_cores()


def library() -> str:
    """Name and version of the MPI library, in a line."""
    return MPI.Get_library_version().split("\n")[0].strip("\0 ")


def vendor() -> tuple[str, tuple[int, int, int]]:
    """Whose MPI it is, and its version."""
    return MPI.get_vendor()
