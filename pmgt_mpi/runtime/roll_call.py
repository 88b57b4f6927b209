"""Asking all agents what they do: questions and answers between the sentries' threads.

They travel over a communicator of their own, so that they work while the main threads
are blocked in MPI, and need an MPI that lets several threads call it at once.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from typing import Any, NamedTuple

from mpi4py import MPI

from pmgt_mpi.collective import Collective

QUESTION, ANSWER = 1, 2


class Answer(NamedTuple):
    """What one agent does: whom it waits for (nobody if empty), where, how long."""

    waits_for: list[int]
    doing: str
    seconds: float


class RollCall:
    """Asks the others, and answers who asks; made by all together.

    It is made before the agents have their seats: agent i is rank i until `seat`.

    Parameters
    ----------
    first
        All ranks.
    own
        Gives this agent's answer.

    Attributes
    ----------
    answers
        What has been answered since the last question, by agent.
    """

    def __init__(self, first: Collective, own: Callable[[], Answer]) -> None:
        self.agents = first.agents
        self.answers: dict[int, Answer] = {}
        self._own = own
        self._rank = first.agent
        self._seats = list(range(first.agents))
        self._people = first.gather((platform.node(), os.getpid()))
        self._sent: list[Any] = []
        self._comm: Any = None
        if MPI.Query_thread() == MPI.THREAD_MULTIPLE and first.agents > 1:
            self._comm = first.comm.Dup()

    @property
    def possible(self) -> bool:
        """Whether this MPI can do it."""
        return self._comm is not None

    def seat(self, collective: Collective) -> None:
        """Learn which agent every rank is; collective."""
        ranks = collective.gather(self._rank)
        self._seats = [ranks.index(rank) for rank in range(self.agents)]

    def close(self) -> None:
        """Free the communicator; collective, and nobody asks any more."""
        if self._comm is not None:
            self._comm.Free()

    def ask(self) -> None:
        """Ask all others; `serve` then takes in their answers."""
        self.answers = {self._seats[self._rank]: self._own()}
        if self._comm is not None:
            ranks = [rank for rank in range(self.agents) if rank != self._rank]
            self._sent = [self._comm.isend(None, rank, QUESTION) for rank in ranks]

    def serve(self) -> None:
        """Answer the questions that have come, and take in answers."""
        if self._comm is None:
            return
        status = MPI.Status()
        # Open MPI looks first and only then takes in what has come: the first look sees
        # nothing where the main thread makes no MPI call.
        self._comm.iprobe()
        while self._comm.iprobe(MPI.ANY_SOURCE, MPI.ANY_TAG, status):
            rank, tag = status.Get_source(), status.Get_tag()
            content = self._comm.recv(source=rank, tag=tag)
            if tag == QUESTION:
                self._sent.append(self._comm.isend(self._own(), rank, ANSWER))
            else:
                self.answers[self._seats[rank]] = content

    def silent(self) -> list[int]:
        """Agents that have not answered."""
        return [agent for agent in range(self.agents) if agent not in self.answers]

    def name(self, agent: int) -> str:
        """Who an agent is, and where."""
        host, process = self._people[self._seats.index(agent)]
        return f"agent {agent} on {host} (process {process})"
