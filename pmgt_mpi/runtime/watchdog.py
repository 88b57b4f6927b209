"""The watchdog: ends a job in which agents wait for one that does not come.

The main thread writes down when it enters a mix or a collective, and nothing else. The
sentry's thread looks at that once a second. If its agent has waited for longer than the
time limit, it asks all others, over a communicator of its own, what they do. Whoever
gives no answer, or an answer that it waits for nobody, is the one that is stuck.
"""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from time import perf_counter, sleep
from typing import Any

from mpi4py import MPI

from pmgt_mpi.collective import Collective
from pmgt_mpi.gossip.gossip import Gossip
from pmgt_mpi.runtime.keeping import Keeping
from pmgt_mpi.runtime.sentry import TICK, Sentry

STUCK = 4
"""Exit code of a job in which an agent was stuck."""

QUESTION, ANSWER = 1, 2
ANSWER_SECONDS = 3 * TICK
"""How long an agent that is well may take to answer."""

TOLD = 20
"""Agents whose waiting is told."""


@dataclass(frozen=True)
class Answer:
    """What one agent does: whom it waits for (nobody if empty), where, how long."""

    waits_for: list[int]
    doing: str
    seconds: float


class Watchdog:
    """Watches over one agent's waiting; made by all agents together.

    Parameters
    ----------
    collective
        All agents; its waiting is watched too.
    sentry
        Whose thread serves the watchdog.
    timeout
        Seconds that an agent may wait.
    """

    def __init__(self, collective: Collective, sentry: Sentry, timeout: float) -> None:
        self.timeout = timeout
        self._collective = collective
        self._sentry = sentry
        self._people = collective.gather((socket.gethostname(), os.getpid()))
        self._comm: Any = None
        if MPI.Query_thread() == MPI.THREAD_MULTIPLE and collective.agents > 1:
            self._comm = collective.comm.Dup()
        self._gossip: Gossip | None = None
        self._keeping = Keeping()
        self._label = ""
        self._entered = 0.0
        self._waited = 0.0
        self._looked = perf_counter()
        self._sent: list[Any] = []

    def attend(self, label: str, gossip: Gossip, keeping: Keeping) -> None:
        """Watch over this algorithm from now on."""
        self._label, self._gossip, self._keeping = label, gossip, keeping
        self._sentry.look = self.look

    def look(self) -> None:
        """See how long this agent has waited, and answer who asks; in the thread."""
        now = perf_counter()
        # A job that was stopped as a whole has not waited meanwhile.
        passed, self._looked = min(now - self._looked, 2 * TICK), now
        entered = self._waiting_since()
        same = entered and entered == self._entered
        self._waited = self._waited + passed if same else 0.0
        self._entered = entered
        self._serve()
        if self._waited > self.timeout:
            answers = self._ask()
            if self._waiting_since() == entered:
                self._report(answers)

    def _waiting_since(self) -> float:
        assert self._gossip is not None
        return self._gossip.entered or self._collective.entered

    def _own(self) -> Answer:
        gossip, keeping = self._gossip, self._keeping
        assert gossip is not None
        where = f"{self._label}, step {keeping.step + 1}"
        if gossip.entered:
            neighbours = list(gossip.neighbourhood.neighbours)
            return Answer(neighbours, f"a mix of {where}", self._waited)
        if keeping.doing:
            where = f"{keeping.doing} of {self._label}, step {keeping.step}"
        if self._collective.entered:
            agents = range(self._collective.agents)
            others = [agent for agent in agents if agent != self._collective.agent]
            return Answer(others, where, self._waited)
        return Answer([], where, 0.0)

    def _ask(self) -> dict[int, Answer]:
        """Ask all others what they do; those that are well answer."""
        own = self._collective.agent
        answers = {own: self._own()}
        if self._comm is None:
            return answers
        others = [a for a in range(self._collective.agents) if a != own]
        self._sent = [self._comm.isend(None, agent, QUESTION) for agent in others]
        end = perf_counter() + ANSWER_SECONDS
        while len(answers) <= len(others) and perf_counter() < end:
            self._serve(answers)
            sleep(0.02)
        return answers

    def _serve(self, answers: dict[int, Answer] | None = None) -> None:
        """Answer the questions that have come, and take in answers."""
        if self._comm is None:
            return
        status = MPI.Status()
        while self._comm.iprobe(MPI.ANY_SOURCE, MPI.ANY_TAG, status):
            agent, tag = status.Get_source(), status.Get_tag()
            content = self._comm.recv(source=agent, tag=tag)
            if tag == QUESTION:
                self._sent.append(self._comm.isend(self._own(), agent, ANSWER))
            elif answers is not None:
                answers[agent] = content

    def _report(self, answers: dict[int, Answer]) -> None:
        """Say who is stuck and who waits for whom, and end the job.

        Of several that find out at once the first speaks, before the others' turn.
        """
        waiting = sorted(agent for agent, a in answers.items() if a.waits_for)
        sleep(2 * TICK * waiting.index(self._collective.agent))
        lines = [*self._stuck(answers), *self._waits(answers, waiting)]
        self._sentry.end_job(STUCK, "\npmgt_mpi: ".join(lines), courteous=False)

    def _stuck(self, answers: dict[int, Answer]) -> list[str]:
        remedy = f"if it is only slow, raise [run] timeout, now {self.timeout:g} s"
        if self._comm is None:
            return ["an agent is stuck, and this MPI cannot tell which"]
        silent = [a for a in range(self._collective.agents) if a not in answers]
        if silent:
            return [
                f"{self._name(agent)} is stuck: it gives no answer, so it is stopped, "
                f"or its host is gone ({remedy})"
                for agent in silent[:TOLD]
            ]
        busy = [agent for agent, answer in answers.items() if not answer.waits_for]
        if busy:
            return [
                f"{self._name(agent)} is stuck: others wait for it, and it is still at "
                f"work in {answers[agent].doing} ({remedy})"
                for agent in busy[:TOLD]
            ]
        return ["all agents wait for each other"]

    def _waits(self, answers: dict[int, Answer], waiting: list[int]) -> list[str]:
        lines = []
        for agent in waiting[:TOLD]:
            answer = answers[agent]
            names = ", ".join(map(str, answer.waits_for[:TOLD]))
            lines.append(
                f"{self._name(agent)} has waited {answer.seconds:.0f} s for agents "
                f"{names} in {answer.doing}"
            )
        return lines

    def _name(self, agent: int) -> str:
        host, process = self._people[agent]
        return f"agent {agent} on {host} (process {process})"
