"""Where the agents of a test tell each other how it went, and nobody waits for ever."""

from __future__ import annotations

import os
import time
from collections import deque
from dataclasses import dataclass
from typing import Any

Place = tuple[int, ...]
"""Test, phase of the test, meeting within the phase: agents pass them in this order."""


class AbsentError(Exception):
    """Some agents have not come to the place in time; `agents` are their numbers."""

    def __init__(self, agents: list[int], seconds: float) -> None:
        super().__init__(f"{name_agents(agents)} not there after {seconds:g} s")
        self.agents = agents


@dataclass(frozen=True)
class Gone:
    """Said for an agent that is past this place already; `word` is what it said there.

    It left a test in which the others still expect to meet it.
    """

    word: Any


class Meeting:
    """Exchanges of one word per agent, on a communicator that no test uses.

    All messages are nonblocking and polled, so that an agent which waits in vain can
    still speak, and end the job.
    """

    def __init__(self, comm: Any) -> None:
        self.comm = comm.Dup()
        self.agent: int = self.comm.rank
        self.agents: int = self.comm.size
        self._others = [a for a in range(self.agents) if a != self.agent]
        self._heard: dict[int, deque[tuple[Place, Any]]] = {
            other: deque() for other in self._others
        }
        self._sends: list[Any] = []

    def exchange(self, place: Place, word: Any, patience: float) -> list[Any]:
        """Return the words of all agents at this place, in their order.

        Raises
        ------
        AbsentError
            After `patience` seconds.
        """
        self._sends = [send for send in self._sends if not send.test()[0]]
        self._sends += [self.comm.isend((place, word), other) for other in self._others]
        words = {self.agent: word}
        deadline = time.monotonic() + patience
        pause = 0.0
        while missing := [other for other in self._others if other not in words]:
            for other in missing:
                if self._find(other, place, words):
                    pause = 0.0
            if time.monotonic() > deadline:
                raise AbsentError(missing, patience)
            if pause:
                time.sleep(pause)
            else:
                os.sched_yield()
            pause = min(pause + 2e-5, 1e-3)
        return [words[agent] for agent in range(self.agents)]

    def _find(self, other: int, place: Place, words: dict[int, Any]) -> bool:
        """Look for the word of one agent; drop what it said at places left behind."""
        heard = self._heard[other]
        while self.comm.iprobe(other):
            heard.append(self.comm.recv(source=other))
        while heard and heard[0][0] < place:
            heard.popleft()
        if not heard:
            return False
        there, word = heard[0]
        if there == place:
            heard.popleft()
            words[other] = word
        else:
            words[other] = Gone(word)
        return True


def name_agents(agents: list[int]) -> str:
    """Write "agent 2", or "agents 0, 2, 3"."""
    return f"agent{'s' if len(agents) > 1 else ''} {', '.join(map(str, agents))}"
