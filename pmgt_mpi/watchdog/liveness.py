"""Asking all agents what they do: questions and answers between the monitors' threads.

They travel over a communicator of their own, so that they work while the main threads
are blocked in MPI, and need an MPI that lets several threads call it at once.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from typing import NamedTuple

from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.mpi.mailbox import Mailbox

QUESTION, ANSWER = 1, 2


class Answer(NamedTuple):
    """What one agent does: whom it waits for (nobody if empty), where, how long."""

    waits_for: list[int]
    doing: str
    seconds: float


class Probe:
    """Asks the others, and answers who asks; made by all together.

    It is made before the network is known: agent i is rank i until `learn_agents`.

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
        self._agent_of_rank = list(range(first.agents))
        self._processes = first.gather((platform.node(), os.getpid()))
        self._mailbox = Mailbox(first.comm)

    @property
    def possible(self) -> bool:
        """Whether this MPI can do it."""
        return self._mailbox.possible

    def learn_agents(self, collective: Collective) -> None:
        """Learn which agent every rank is; collective."""
        ranks = collective.gather(self._rank)
        self._agent_of_rank = [ranks.index(rank) for rank in range(self.agents)]

    def close(self) -> None:
        """Free what the messages go over; collective, and nobody asks any more."""
        self._mailbox.close()

    def ask(self) -> None:
        """Ask all others; `serve` then takes in their answers."""
        self.answers = {self._agent_of_rank[self._rank]: self._own()}
        for rank in range(self.agents):
            if rank != self._rank:
                self._mailbox.send(rank, QUESTION, None)

    def serve(self) -> None:
        """Answer the questions that have come, and take in answers."""
        for rank, tag, content in self._mailbox.received():
            if tag == QUESTION:
                self._mailbox.send(rank, ANSWER, self._own())
            else:
                self.answers[self._agent_of_rank[rank]] = content

    def silent(self) -> list[int]:
        """Agents that have not answered."""
        return [agent for agent in range(self.agents) if agent not in self.answers]

    def name(self, agent: int) -> str:
        """Who an agent is, and where."""
        host, process = self._processes[self._agent_of_rank.index(agent)]
        return f"agent {agent} on {host} (process {process})"
