"""The guard: a run that grows goes back, and continues with gentler parameters.

A rule that is safe on every problem is dear on most; a bold one needs somebody who
looks on. The guard is a method like any other, whose steps are those of the method that
it guards. Now and then it asks all agents for the largest of the numbers that they
watch, along the edges of the graph (`Agent.largest`): as all know the same number then,
all do the same.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from math import ceil, inf, isfinite, sqrt
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.agent import Agent
from pmgt_mpi.algorithms.traits import step_cost
from pmgt_mpi.config.sections import AlgorithmSection
from pmgt_mpi.errors import UserError

Array = NDArray[Any]

SHARE = 0.05
"""Of the method's rounds, for those of the guard; more in the first steps."""

SOONEST = 20
"""Rounds of the method before the first question, and after each change."""

GROWTH, MOST_GROWTH = 30.0, 240.0
"""Multiple of the smallest number so far from which on the run is said to grow: far
from what momentum and noise do (10 was found too small for them). What follows a change
may rise more: each that has not led to a smaller number doubles it, up to the second.
"""

MOST_CHANGES = 60
"""After so many the guard gives up: what grows then does not grow by its parameters."""

LESS, MORE = 1.3, 1.25
"""By which a step becomes smaller, a momentum by its root, and rounds become more."""


@dataclass
class State:
    """What the guard keeps beside the method's state; a step changes it in place.

    Attributes
    ----------
    method
        The state of the method.
    good
        A copy of it, from before the step after which the watched number was smallest;
        with the scale of the parameters of now.
    least
        That number.
    changes
        How often the parameters were made gentler.
    failed
        How often since `least` was found.
    step, next
        Steps so far, and the step of the next question.
    wait
        Steps between this question and the one before.
    """

    method: Any
    good: Any
    least: float
    changes: int
    failed: int
    step: int
    next: int
    wait: int


def guarded_parameters(section: AlgorithmSection, rounds: int | str) -> list[str]:
    """Return the parameters that the guard of an algorithm may change.

    Parameters
    ----------
    section
        As asked, with words.
    rounds
        Of [mixing], for a method that asks there.
    """
    method = section.method
    traits = getattr(method, "traits", None)
    able = traits.guarded if traits is not None and hasattr(method, "watched") else ()
    if section.guard == "auto":
        words = {name: getattr(method, name) for name in able}
        asked = {n: rounds if w == "section" else w for n, w in words.items()}
        return [name for name, word in asked.items() if word == "auto"]
    unable = [name for name in section.guard if name not in able]
    if unable:
        can = (
            f"of {', '.join(able)}" if able else "[]: this method has nothing to watch"
        )
        raise UserError(
            f"{section.label}: guard names {', '.join(unable)}: expected some {can}"
        )
    return list(section.guard)


def guarded(
    method: Any, adjusts: list[str] | Literal["auto"], diameter: int, n: int
) -> Any:
    """Return what runs: the method, or its guard if that may change anything.

    Of a config with numbers that no word became, where it still says ``auto``, nothing.
    """
    if adjusts == "auto" or not adjusts:
        return method
    return Guarded(method, tuple(adjusts), diameter, n)


class Guarded:
    """A method and its guard; in the run's loop it stands for the method.

    Parameters
    ----------
    method
        With numbers for its parameters.
    adjusts
        Names of the parameters that the guard may change.
    diameter
        Of the graph: rounds after which all agents know the largest number.
    n
        ceil(N / m), for the rounds of an average step.
    """

    def __init__(
        self, method: Any, adjusts: tuple[str, ...], diameter: int, n: int
    ) -> None:
        self._gentler = [method]
        self._adjusts = adjusts
        self._diameter = diameter
        rounds = max(1.0, step_cost(method, n).rounds)
        self.often = ceil(SOONEST / rounds)
        self.seldom = max(self.often, ceil(diameter / (SHARE * rounds)))

    def init(self, agent: Agent, x0: Array) -> State:
        """The method's state, of which nothing is known yet."""
        state = self._gentler[0].init(agent, x0)
        return State(
            method=state,
            good=copied(state),
            least=inf,
            changes=0,
            failed=0,
            step=0,
            next=1,
            wait=self.often,
        )

    def step(self, agent: Agent, s: State) -> State:
        """One step of the method, and the question when it is due."""
        method, due = self.method(s.changes), s.step + 1 == s.next
        # What a tracker tells is of the step's start, and its end may be far away.
        start = copied(s.method) if due else s.method
        s.method = method.step(agent, s.method)
        s.step += 1
        if due:
            own = self.value(method, agent, start, s.method)
            self._judge(agent, s, start, agent.largest(own, self._diameter))
            s.next = s.step + s.wait
        return s

    def _judge(self, agent: Agent, s: State, start: Any, value: float) -> None:
        """Go on, or back to the good state, by the largest number of all agents."""
        most = min(GROWTH * 2.0**s.failed, MOST_GROWTH)
        grows = value == inf or value > most * s.least
        if grows and s.changes < MOST_CHANGES:
            self._go_back(agent, s)
            return
        if s.step > 1:
            s.wait = min(2 * s.wait, self.seldom)
        if value < s.least:
            s.good, s.least, s.failed = start, value, 0

    def solution(self, state: State) -> Array:
        """The method's."""
        x: Array = self._gentler[0].solution(state.method)
        return x

    def recovers(self, state: State) -> bool:
        """Whether a run that has left for infinity may still be brought back."""
        return state.changes < MOST_CHANGES

    def told(self, state: State) -> str:
        """What the user should know of a run that was made gentler."""
        if not state.changes:
            return ""
        old, new = self.method(0), self.method(state.changes)
        changes = [
            f"{name} from {getattr(old, name):.4g} to {getattr(new, name):.4g}"
            for name in self._adjusts
        ]
        times = "once" if state.changes == 1 else f"{state.changes} times"
        return f"the run grew, and went back {times}: {', '.join(changes)}"

    def method(self, changes: int) -> Any:
        """Return the method as it is after so many changes."""
        while len(self._gentler) <= changes:
            self._gentler.append(gentler(self._gentler[-1], self._adjusts))
        return self._gentler[changes]

    def value(self, method: Any, agent: Agent, before: Any, after: Any) -> float:
        """Return what this agent watches; of what is only rounding, the same always."""
        x = method.solution(after)
        rounding = float(np.finfo(x.dtype).eps) ** 0.75
        smallest = rounding * float(np.linalg.norm(x)) / method.step_size
        value = max(method.watched(agent, before, after), smallest)
        return value if isfinite(value) else inf

    def _go_back(self, agent: Agent, s: State) -> None:
        """Return to the good state, with gentler parameters."""
        old, new = self.method(s.changes), self.method(s.changes + 1)
        if hasattr(new, "rescaled"):
            s.good = new.rescaled(agent, s.good, new.step_size / old.step_size)
        s.method, s.wait = copied(s.good), self.often
        s.changes += 1
        s.failed += 1


def gentler(method: Any, adjusts: tuple[str, ...]) -> Any:
    """Return the method with smaller steps and more rounds, as far as it may."""
    values: dict[str, Any] = {}
    for name in adjusts:
        old = getattr(method, name)
        if isinstance(old, int):
            values[name] = ceil(MORE * old)
        else:
            values[name] = old / (sqrt(LESS) if name == "momentum" else LESS)
    return replace(method, **values)


def copied(state: Any) -> Any:
    """Return a copy that no step changes; what was one array stays one."""
    copies: dict[int, Array] = {}
    values = {}
    for field in fields(state):
        value = getattr(state, field.name)
        if isinstance(value, np.ndarray):
            value = copies.setdefault(id(value), value.copy())
        values[field.name] = value
    return type(state)(**values)
