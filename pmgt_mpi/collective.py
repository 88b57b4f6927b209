"""Collectives for set-up and evaluation, always in the order of the agents.

Sums are gathered and added agent by agent, so that they have the same bits on one host
or on ten (an Allreduce may add in another order on another layout). No algorithm sees
this class.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter, sleep
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.errors import UserError

Array = NDArray[Any]

GATHER_LIMIT = 1 << 20
"""Numbers gathered at once on agent 0; a larger sum takes one agent after another."""

SHORTEST_PAUSE, LONGEST_PAUSE = 5e-5, 5e-3
"""Seconds that an agent sleeps between two looks at whether the others have come."""


class AgreedError(UserError):
    """Wrong input that every agent knows of: all of them end in the same way."""


class Collective:
    """What all agents do together, outside of any algorithm.

    Parameters
    ----------
    comm
        An mpi4py communicator in which rank and agent id are the same.

    Attributes
    ----------
    entered
        When the agent began to wait for the others, and nought if it does not: for the
        watchdog, which looks on from another thread.
    """

    def __init__(self, comm: Any) -> None:
        self.comm = comm
        self.agent: int = comm.rank
        self.agents: int = comm.size
        self.entered = 0.0

    def sum(self, array: Array) -> Array:
        """Sum over the agents, in their order; every agent gets the same bits."""
        local = np.asarray(array, order="C")
        total = np.array(local)
        if self.agents == 1:
            return total
        self.entered = perf_counter()
        if local.size * self.agents <= GATHER_LIMIT:
            parts = (
                np.empty((self.agents, *local.shape), local.dtype)
                if self.agent == 0
                else None
            )
            self.comm.Gather(local, parts, root=0)
            if parts is not None:
                for part in parts[1:]:
                    total += part
        elif self.agent == 0:
            part = np.empty_like(local)
            for source in range(1, self.agents):
                self.comm.Recv(part, source)
                total += part
        else:
            self.comm.Send(local, 0)
        self.comm.Bcast(total, root=0)
        self.entered = 0.0
        return total

    def gather(self, value: Any) -> list[Any]:
        """Give every agent the list of all agents' values (small ones: pickled)."""
        self.entered = perf_counter()
        values: list[Any] = self.comm.allgather(value)
        self.entered = 0.0
        return values

    def barrier(self) -> None:
        """Wait until every agent has come here."""
        self.entered = perf_counter()
        self.comm.Barrier()
        self.entered = 0.0

    def max(self, array: Array) -> Array:
        """Largest over the agents, element by element."""
        return np.max(self.gather(np.asarray(array)), axis=0)  # type: ignore[no-any-return]

    def min(self, array: Array) -> Array:
        """Smallest over the agents, element by element."""
        return np.min(self.gather(np.asarray(array)), axis=0)  # type: ignore[no-any-return]

    def from_first(self, value: Any) -> Any:
        """Give every agent the value of agent 0."""
        self.entered = perf_counter()
        value = self.comm.bcast(value, root=0)
        self.entered = 0.0
        return value

    @contextmanager
    def agreed(self) -> Iterator[None]:
        """Run work that may find wrong input; if one agent does, all raise.

        Local work may fail on any agent. Work with collectives in it must fail on all
        agents or on none: one that fails alone would leave the others waiting. Any
        other exception than `UserError` passes straight through and ends the job.
        """
        problem: str | None = None
        try:
            yield
        except UserError as error:
            problem = str(error)
        self._wait_quietly()
        problems = [p for p in self.gather(problem) if p is not None]
        if problems:
            raise AgreedError(problems[0])

    def _wait_quietly(self) -> None:
        """Wait for all agents asleep, and not inside MPI, which keeps a core busy.

        At set-up one agent works while the others wait, often on the same cores.
        """
        met = self.comm.Ibarrier()
        pause = SHORTEST_PAUSE
        while not met.Test():
            sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)
