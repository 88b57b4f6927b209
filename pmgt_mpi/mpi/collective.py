"""Collectives for set-up and evaluation. No algorithm sees this class.

Sums go up a binary tree of agent ids, so that they have the same bits on one host or
on ten (an Allreduce may add in another order on another layout), with one vector of
memory and at most log2 m messages received by an agent. What does not depend on an
order, largest numbers and flags, is a reduction of MPI's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter, sleep
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pmgt_mpi.errors import UserError

Array = NDArray[Any]
T = TypeVar("T")

SUM = 1
"""Tag of the messages of a sum: by it those who count can tell them from gossip."""

SHORTEST_PAUSE, LONGEST_PAUSE = 5e-5, 5e-3
"""Seconds that an agent sleeps between two looks at whether the others have come."""


class AgreedError(UserError):
    """Wrong input that every agent knows of: all of them end in the same way."""

    def __init__(self, message: str, exit_code: int = UserError.exit_code) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class Collective:
    """What all agents do together, outside of any algorithm.

    Parameters
    ----------
    comm
        An mpi4py communicator in which rank and agent id are the same.

    Attributes
    ----------
    entered
        When the agent began to wait for the others, and zero if it does not: for the
        watchdog, which looks on from another thread.
    """

    def __init__(self, comm: Any) -> None:
        self.comm = comm
        self.agent: int = comm.rank
        self.agents: int = comm.size
        self.entered = 0.0

    @contextmanager
    def _waiting(self) -> Iterator[None]:
        self.entered = perf_counter()
        try:
            yield
        finally:
            self.entered = 0.0

    def sum(self, array: ArrayLike) -> Array:
        """Sum over the agents; every agent gets the same bits, wherever agents are.

        In step k = 1, 2, 4, … agent i, a multiple of 2k, adds the sum of the agents
        from i + k on to its own.
        """
        total = np.array(array, order="C")
        if self.agents == 1:
            return total
        with self._waiting():
            k = 1
            while k < self.agents and not self.agent & k:
                if self.agent + k < self.agents:
                    part = np.empty_like(total)
                    self.comm.Recv(part, self.agent + k, SUM)
                    total += part
                k *= 2
            if self.agent:
                self.comm.Send(total, self.agent - k, SUM)
            self.comm.Bcast(total, root=0)
        return total

    def max(self, array: ArrayLike) -> Array:
        """Largest over the agents, element by element; NaN counts as infinity."""
        return self._extreme("MAX", np.inf, array)

    def min(self, array: ArrayLike) -> Array:
        """Smallest over the agents, element by element; NaN counts as −infinity."""
        return self._extreme("MIN", -np.inf, array)

    def _extreme(self, operation: str, nan: float, array: ArrayLike) -> Array:
        from pmgt_mpi.mpi.library import (
            MPI,  # a program without ranks may import this module
        )

        local = np.array(array, order="C")
        if local.dtype.kind == "f":
            # What MPI makes of NaN may depend on the order, and differ between agents.
            local[np.isnan(local)] = nan
        extreme = np.empty_like(local)
        with self._waiting():
            self.comm.Allreduce(local, extreme, getattr(MPI, operation))
        return extreme

    def gather(self, value: Any) -> list[Any]:
        """Return the list of all agents' values (small ones: pickled)."""
        with self._waiting():
            values: list[Any] = self.comm.allgather(value)
        return values

    def gather_to_first(self, value: Any) -> list[Any]:
        """Return the list of all agents' values on agent 0, an empty one elsewhere."""
        with self._waiting():
            values: list[Any] | None = self.comm.gather(value, root=0)
        return values or []

    def barrier(self) -> None:
        """Wait until every agent has come here."""
        with self._waiting():
            self.comm.Barrier()

    def from_agent(self, agent: int, value: Any) -> Any:
        """Return the value of one of them."""
        with self._waiting():
            value = self.comm.bcast(value, root=agent)
        return value

    def from_first(self, value: Any) -> Any:
        """Return the value of agent 0."""
        return self.from_agent(0, value)

    def first_word(self, word: T | None) -> T | None:
        """Return the word of the first agent that has one; None if none has.

        It costs one number of each agent where there is none.
        """
        last = self.agents
        first = int(self.min(np.array(last if word is None else self.agent)))
        return None if first == last else self.from_agent(first, word)

    @contextmanager
    def agreed(self) -> Iterator[None]:
        """Run work that may find wrong input; if one agent does, all raise.

        Local work may fail on any agent. Work with collectives in it must fail on all
        agents or on none: one that fails alone would leave the others waiting. Any
        other exception than `UserError` passes straight through and ends the job.
        """
        problem: UserError | None = None
        try:
            yield
        except UserError as error:
            problem = error
        self.wait_quietly()
        message = (str(problem), problem.exit_code) if problem else None
        if (message := self.first_word(message)) is not None:
            raise AgreedError(*message)

    def wait_quietly(self) -> None:
        """Wait for all agents asleep, and not inside MPI, which keeps a core busy.

        At set-up one agent works while the others wait, often on the same cores.
        """
        with self._waiting():
            met = self.comm.Ibarrier()
            pause = SHORTEST_PAUSE
            while not met.Test():
                sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE)
