"""The watchdog: ends a job in which agents wait for one that does not come.

The main thread writes down when it enters a mix or a collective, and nothing else. The
monitor's thread looks at that once a second. If its agent has waited for longer than
the time limit, it asks all others what they do. Whoever gives no answer, or an answer
that it waits for nobody, is the one that is stuck.

During the set-up one agent may work for long while the others wait, so there only who
gives no answer for longer than the time limit is stuck.

Questions and answers travel between the monitors' threads, over a communicator of their
own, so that they work while the main threads are blocked in MPI; they need an MPI that
lets several threads call it at once.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from time import perf_counter, sleep
from typing import NamedTuple

from pmgt_mpi.clock import TICK
from pmgt_mpi.gossip.gossip import Gossip
from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.mpi.mailbox import Mailbox
from pmgt_mpi.watchdog.signals import Monitor

STUCK = 4
"""Exit code of a job in which an agent was stuck."""

ANSWER_SECONDS = 3 * TICK
"""How long an agent that is well may take to answer."""

TOLD = 20
"""Agents whose waiting is told."""

QUESTION, ANSWER = 1, 2


class Position:
    """Where an algorithm is; its loop writes it down, and the watchdog looks on."""

    step = 0
    doing = ""
    """How many steps are done, and what else than a step is being done."""


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
        Returns this agent's answer.

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


class Watchdog:
    """Watches over one agent's waiting; made by all agents together.

    Parameters
    ----------
    first
        All ranks, before they know which agents they are.
    monitor
        Whose thread serves the watchdog.
    timeout
        Seconds that an agent may wait.
    """

    def __init__(self, first: Collective, monitor: Monitor, timeout: float) -> None:
        self.timeout = timeout
        self._collective = first
        self.monitor = monitor
        self._probe = Probe(first, self._own)
        self._gossip: Gossip | None = None
        self._position = Position()
        self._label = ""
        self._asked = False
        self._last_waiting: tuple[float, int] | None = None
        self._waited = 0.0
        self._looked = perf_counter()
        monitor.look = self.look

    def learn_agents(self, collective: Collective) -> None:
        """Learn which agent every rank is; collective."""
        self._collective = collective
        self.monitor.agent = collective.agent
        self._probe.learn_agents(collective)

    def close(self) -> None:
        """Free what it talks on; collective, after the monitor's thread has ended."""
        self._probe.close()

    def begin_algorithms(self) -> None:
        """Leave an end that is asked for to the loop: the set-up is over."""
        self.monitor.begin_algorithms()

    def begin_set_up(self) -> None:
        """One agent may work for long again while the others wait."""
        self._gossip, self._waited, self._asked = None, 0.0, False

    def watch(self, label: str, gossip: Gossip, position: Position) -> None:
        """Watch over this algorithm from now on: the set-up is over."""
        self._label, self._position, self._gossip = label, position, gossip

    def look(self) -> None:
        """See how long this agent has waited, and answer who asks; in the thread."""
        now = perf_counter()
        # A job that was stopped as a whole has not waited meanwhile.
        passed, self._looked = min(now - self._looked, 2 * TICK), now
        self._probe.serve()
        if self._gossip is None:
            self._look_at_set_up(passed)
            return
        waiting = self._waiting()
        same = waiting is not None and waiting == self._last_waiting
        self._waited = self._waited + passed if same else 0.0
        self._last_waiting = waiting
        if self._waited > self.timeout:
            self._probe.ask()
            end = perf_counter() + ANSWER_SECONDS
            while self._probe.silent() and perf_counter() < end:
                sleep(0.02)
                self._probe.serve()
            if self._waiting() == waiting:
                self._report(self._probe.answers)

    def _look_at_set_up(self, passed: float) -> None:
        """Ask now and then, and leave everybody the whole time limit to answer."""
        if not self._probe.possible:
            return
        self._waited += passed
        if self._asked and not self._probe.silent():
            self._asked, self._waited = False, 0.0
        elif self._waited > self.timeout:
            if self._asked:
                self._report(self._probe.answers)
            self._probe.ask()
            self._asked, self._waited = True, 0.0

    def _waiting(self) -> tuple[float, int] | None:
        """Since when the agent waits, and where; None if it does not."""
        assert self._gossip is not None
        if self._gossip.entered:
            return self._gossip.progress
        entered = self._collective.entered
        return (entered, 0) if entered else None

    def _own(self) -> Answer:
        gossip, position = self._gossip, self._position
        if gossip is None:
            return Answer([], "the set-up", 0.0)
        where = f"{self._label}, step {position.step + 1}"
        if gossip.entered:
            neighbours = list(gossip.neighbourhood.neighbours)
            return Answer(neighbours, f"a mix of {where}", self._waited)
        if position.doing:
            where = f"{position.doing} of {self._label}, step {position.step}"
        if self._collective.entered:
            agents = range(self._collective.agents)
            others = [agent for agent in agents if agent != self._collective.agent]
            return Answer(others, where, self._waited)
        return Answer([], where, 0.0)

    def _report(self, answers: dict[int, Answer]) -> None:
        """Say who is stuck and who waits for whom, and end the job.

        Of several that find out at once the first speaks, before the others' turn.
        """
        waiting = sorted(agent for agent, a in answers.items() if a.waits_for)
        in_turn = waiting or sorted(answers)
        sleep(2 * TICK * in_turn.index(self._collective.agent))
        lines = [*self._stuck(answers), *self._waits(answers, waiting)]
        self.monitor.end_job(STUCK, "\npmgt_mpi: ".join(lines), courteous=False)

    def _stuck(self, answers: dict[int, Answer]) -> list[str]:
        remedy = f"if it is only slow, raise [run] timeout, now {self.timeout:g} s"
        if not self._probe.possible:
            return ["an agent is stuck, and this MPI cannot tell which"]
        name, silent = self._probe.name, self._probe.silent()
        where = "" if self._gossip else " in the set-up"
        if silent:
            return [
                f"{name(agent)} is stuck{where}: it gives no answer, so it is stopped, "
                f"or its host is gone ({remedy})"
                for agent in silent[:TOLD]
            ]
        busy = [agent for agent, answer in answers.items() if not answer.waits_for]
        if busy:
            return [
                f"{name(agent)} is stuck: others wait for it, and it is still at work "
                f"in {answers[agent].doing} ({remedy})"
                for agent in busy[:TOLD]
            ]
        return ["all agents wait for each other"]

    def _waits(self, answers: dict[int, Answer], waiting: list[int]) -> list[str]:
        lines = []
        for agent in waiting[:TOLD]:
            answer = answers[agent]
            names = ", ".join(map(str, answer.waits_for[:TOLD]))
            lines.append(
                f"{self._probe.name(agent)} has waited {answer.seconds:.0f} s for "
                f"agents {names} in {answer.doing}"
            )
        return lines
