"""All agents in one process: what their set-up finds together, without a cluster.

Each agent is a thread, and one of them runs at a time, so that this takes no more cores
and hardly more memory than their rows do. The code of a run sees the communicator that
it knows: what it finds has the bits of a run.
"""

from __future__ import annotations

import threading
from collections import defaultdict, deque
from collections.abc import Callable
from copy import deepcopy
from time import monotonic
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.mpi.library import MPI

Array = NDArray[Any]
T = TypeVar("T")

MOST_BYTES = 1 << 30
"""Of rows, and of one array that every agent has."""


class TooMuchError(Exception):
    """It would take more time or memory than it may; says which."""


class _EndedError(Exception):
    """Another agent has failed."""


def together(agents: int, work: Callable[[Any], T], seconds: float) -> list[T]:
    """Let every agent do its work with a communicator; return what they return.

    An exception of an agent, its traceback with it, ends all of them.

    Raises
    ------
    TooMuchError
        If it takes longer than `seconds`, as seen where agents meet.
    """
    room = Room(agents, seconds)
    given: dict[int, T] = {}

    def run(agent: int) -> None:
        with room.lock:
            try:
                given[agent] = work(LocalComm(room, agent))
            except BaseException as error:  # of all agents: it is raised again below
                room.end(error)

    threads = [
        threading.Thread(target=run, args=(agent,), daemon=True)
        for agent in range(agents)
    ]
    try:
        for thread in threads:
            thread.start()
    except RuntimeError as error:
        with room.lock:
            room.end(TooMuchError(f"there is no room for {agents} threads ({error})"))
    for thread in threads:
        if thread.ident is not None:
            thread.join()
    if room.failure is not None:
        raise room.failure
    return [given[agent] for agent in range(agents)]


class Room:
    """What the agents share.

    Attributes
    ----------
    lock
        Whoever has it runs; it is given away in waiting alone.
    failure
        The first exception of an agent.
    """

    def __init__(self, agents: int, seconds: float) -> None:
        self.agents = agents
        self.lock = threading.Lock()
        self.failure: BaseException | None = None
        self._seconds = seconds
        self._deadline = monotonic() + seconds
        self._changed: defaultdict[int, threading.Condition]
        self._changed = defaultdict(lambda: threading.Condition(self.lock))
        self._letters: defaultdict[Any, deque[Any]] = defaultdict(deque)
        self._meetings: dict[Any, dict[int, Any]] = {}

    def end(self, error: BaseException) -> None:
        """Let all agents end, as one has failed."""
        self.failure = self.failure or error
        for condition in self._changed.values():
            condition.notify()

    def wait(self, agent: int, ready: Callable[[], bool]) -> None:
        """Let the others run until they have brought about what an agent waits for."""
        while not ready():
            left = self._deadline - monotonic()
            if self.failure is not None:
                raise _EndedError
            if left <= 0:
                raise TooMuchError(f"it would take longer than {self._seconds:g} s")
            self._changed[agent].wait(left)

    def meet(self, agent: int, meeting: Any, value: Any) -> list[Any]:
        """Return the values that all agents bring to a meeting."""
        values = self._meetings.setdefault(meeting, {})
        values[agent] = value
        if len(values) == self.agents:
            del self._meetings[meeting]
            for condition in self._changed.values():
                condition.notify()
        self.wait(agent, lambda: len(values) == self.agents)
        return [values[k] for k in range(self.agents)]

    def put(self, address: Any, agent: int, value: Any) -> None:
        """Leave a letter for an agent."""
        self._letters[address].append(value)
        self._changed[agent].notify()

    def take(self, address: Any, agent: int) -> Any:
        """Wait for a letter, and take it."""
        letters = self._letters[address]
        self.wait(agent, lambda: bool(letters))
        return letters.popleft()


class LocalComm:
    """Of the interface of mpi4py's communicators what the set-up of a run needs.

    Parameters
    ----------
    room
        Where the agents meet.
    rank
        Of this agent, here and in all communicators that are made of this one.
    """

    def __init__(self, room: Room, rank: int, name: tuple[int, ...] = ()) -> None:
        self.rank, self.size = rank, room.agents
        self._room = room
        self._name = name
        self._calls = 0

    def Dup(self) -> LocalComm:
        """Make another, whose messages are apart."""
        self._calls += 1
        return LocalComm(self._room, self.rank, (*self._name, self._calls))

    def Split(self, color: int, key: int) -> LocalComm:
        """Do as `Dup`: all agents are wanted, in the order that they have."""
        assert (color, key) == (0, self.rank)
        return self.Dup()

    def Free(self) -> None:
        """There is nothing to free."""

    # Objects: by reference where they are small and all have them.

    def allgather(self, value: Any) -> list[Any]:
        """Return the list of all agents' values, on every agent."""
        self._calls += 1
        return self._room.meet(self.rank, (*self._name, self._calls), value)

    def gather(self, value: Any, root: int = 0) -> list[Any] | None:
        """Return the list of all agents' values on agent `root`, None elsewhere."""
        values = self.allgather(value)
        return values if self.rank == root else None

    def bcast(self, value: Any, root: int = 0) -> Any:
        """Return the value of agent `root`: a copy, on every other agent."""
        value = self.allgather(value if self.rank == root else None)[root]
        return value if self.rank == root else deepcopy(value)

    def scatter(self, values: list[Any] | None, root: int = 0) -> Any:
        """Return this agent's value of the list of agent `root`."""
        return self.allgather(values)[root][self.rank]

    def Barrier(self) -> None:
        """Wait until every agent has come here."""
        self.allgather(None)

    def Ibarrier(self) -> Any:
        """Do as `Barrier`: whoever waits lets the others run."""
        self.Barrier()
        return Met()

    # Arrays.

    def Send(self, array: Array, dest: int, tag: int = 0) -> None:
        """Leave a copy of an array for another agent."""
        self._check(array)
        self._room.put((self._name, self.rank, dest, tag), dest, array.copy())

    def Recv(self, array: Array, source: int, tag: int = 0) -> None:
        """Wait for an array of another agent."""
        array[...] = self._room.take((self._name, source, self.rank, tag), self.rank)

    def Sendrecv(self, array: Array, dest: int, *, recvbuf: Array, source: int) -> None:
        """Do both."""
        self.Send(array, dest)
        self.Recv(recvbuf, source)

    def Bcast(self, array: Array, root: int = 0) -> None:
        """Fill every agent's array with that of agent `root`."""
        self._check(array)
        found = self.allgather(array.copy() if self.rank == root else None)[root]
        array[...] = found

    def Gather(self, array: Array, gathered: Array | None, root: int = 0) -> None:
        """Fill `gathered` on agent `root` with the arrays of all."""
        self._check(array)
        arrays = self.allgather(array.copy())
        if gathered is not None and self.rank == root:
            np.stack(arrays, out=gathered)

    def Scatterv(
        self, whole: tuple[Array, list[int]] | None, own: Array, root: int = 0
    ) -> None:
        """Fill `own` with this agent's part of the array of agent `root`."""
        array, sizes = self.allgather(whole)[root]
        start = sum(sizes[: self.rank])
        own[...] = array[start : start + sizes[self.rank]]

    def Allreduce(self, array: Array, result: Array, operation: MPI.Op) -> None:
        """Fill `result` with the largest, or smallest, of all agents."""
        self._check(array)
        assert operation in (MPI.MAX, MPI.MIN)
        extreme = np.max if operation == MPI.MAX else np.min
        extreme(self.allgather(array.copy()), axis=0, out=result)

    def _check(self, array: Array) -> None:
        if array.nbytes * self.size > MOST_BYTES:
            raise TooMuchError(
                f"arrays of {array.nbytes:,} bytes of each agent are more than 1 GB"
            )


class Met:
    """A barrier that is behind all agents."""

    def Test(self) -> bool:
        """Say that it is."""
        return True
