"""Small messages that threads of all ranks send each other while others are in MPI."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pmgt_mpi.mpi.library import MPI


class Mailbox:
    """Messages between ranks, on a communicator of their own; made by all together.

    Parameters
    ----------
    comm
        All ranks.

    Attributes
    ----------
    possible
        Whether this MPI lets several threads call it at once, and there are others.
    """

    def __init__(self, comm: Any) -> None:
        several = MPI.Query_thread() == MPI.THREAD_MULTIPLE
        self.possible = several and comm.size > 1
        self._comm = comm.Dup() if self.possible else None
        self._sent: list[Any] = []

    def send(self, rank: int, tag: int, content: Any) -> None:
        """Send a message, and do not wait."""
        if self._comm is not None:
            self._sent = [request for request in self._sent if not request.Test()]
            self._sent.append(self._comm.isend(content, rank, tag))

    def received(self) -> Iterator[tuple[int, int, Any]]:
        """Return sender, tag and content of the messages that have come."""
        if self._comm is None:
            return
        status = MPI.Status()
        # Open MPI looks first and only then takes in what has come: the first look sees
        # nothing where the main thread makes no MPI call.
        self._comm.iprobe()
        while self._comm.iprobe(MPI.ANY_SOURCE, MPI.ANY_TAG, status):
            rank, tag = status.Get_source(), status.Get_tag()
            yield rank, tag, self._comm.recv(source=rank, tag=tag)

    def close(self) -> None:
        """Free the communicator; collective."""
        if self._comm is not None:
            self._comm.Free()
