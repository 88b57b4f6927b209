"""The keeper: writes the checkpoints of one algorithm, and takes it up from one."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from math import inf
from time import monotonic
from typing import Any, NamedTuple

from pmgt_mpi.agent import Agent
from pmgt_mpi.checkpoints.keeping import Agreement, Keeping
from pmgt_mpi.checkpoints.statefile import Numbers, flatten, rebuild
from pmgt_mpi.checkpoints.store import Checkpoints
from pmgt_mpi.clock import Clock
from pmgt_mpi.config.plan import CheckpointPlan
from pmgt_mpi.errors import UserError
from pmgt_mpi.gossip.gossip import Gossip
from pmgt_mpi.output.results import Finished, Record
from pmgt_mpi.watchdog.signals import Sentry
from pmgt_mpi.watchdog.watchdog import Watchdog

MINUTE = 60.0

MARGIN = 0.5
"""Seconds before a wall-clock limit that are left for the results."""


class Saved(NamedTuple):
    """What a checkpoint holds of one agent."""

    step: int
    numbers: Numbers
    arrays: dict[str, Any]


@dataclass
class Upkeep:
    """What the keepers of all algorithms of a run share.

    Attributes
    ----------
    checkpoints, plan
        Where checkpoints go, and how often.
    done
        The algorithms that are done; with all their arrays on agent 0 only.
    sentry, watchdog
        The one knows of signals, the other of agents that do not come.
    deadline
        When the run is to be over, on the monotonic clock.
    saved_at, save_seconds
        When the last checkpoint was written, or the run began; the longest that one
        took, or a guess before the first.
    reason
        Why the run was interrupted, if it was.
    """

    checkpoints: Checkpoints
    plan: CheckpointPlan
    done: list[Finished]
    sentry: Sentry
    watchdog: Watchdog | None = None
    deadline: float = inf
    saved_at: float = field(default_factory=monotonic)
    save_seconds: float = 0.5
    reason: str | None = None

    def stop_reason(self, next_seconds: float) -> str | None:
        """Why this agent would stop now, if the next stretch takes so long."""
        if self.sentry.asked is not None:
            return f"{self.sentry.asked} on agent {self.checkpoints.collective.agent}"
        if monotonic() + next_seconds + self.save_seconds + MARGIN > self.deadline:
            return f"--max-seconds: the next steps may take {next_seconds:.2g} s"
        return None


class Watched(Keeping):
    """Keeps nothing, but lets the watchdog look on: what `solve` has."""

    def __init__(self, watchdog: Watchdog | None, label: str) -> None:
        self._watchdog = watchdog
        self._label = label

    def attend(
        self, agent: Agent, gossip: Gossip, clocks: tuple[Clock, Clock, Clock]
    ) -> None:
        """Let the watchdog see where the algorithm is."""
        del agent, clocks
        if self._watchdog is not None:
            self._watchdog.attend(self._label, gossip, self)


class Keeper(Watched):
    """Keeps one algorithm.

    Parameters
    ----------
    upkeep
        What it shares with the others.
    number
        Of the algorithm in the list.
    saved
        What to continue from; None to begin.
    label
        Of the algorithm, for what the watchdog says.
    """

    def __init__(
        self, upkeep: Upkeep, number: int, saved: Saved | None, label: str = ""
    ) -> None:
        super().__init__(upkeep.watchdog, label)
        self.upkeep = upkeep
        self.number = number
        self.parameters = saved.numbers["parameters"] if saved else None
        self._saved = saved
        self._saved_step = saved.step if saved else -1
        self._longest = 0.0
        self._end: tuple[int, Numbers, dict[str, Any]] | None = None

    def attend(
        self, agent: Agent, gossip: Gossip, clocks: tuple[Clock, Clock, Clock]
    ) -> None:
        """Take charge of streams, counters, and the clocks."""
        super().attend(agent, gossip, clocks)
        self._agent, self._gossip, self._clocks = agent, gossip, clocks
        self._went_on = monotonic()

    def restore(self, fresh: Any) -> tuple[int, Any, Record] | None:
        """Put back all that was saved; the state gets the kind of a fresh one.

        A state that no checkpoint can hold is refused here, and not at the end.
        """
        if self._wanted:
            with self.upkeep.checkpoints.collective.agreed():
                flatten(fresh)
        saved, self._saved = self._saved, None
        if saved is None:
            return None
        numbers = saved.numbers
        names = [field.name for field in fields(fresh)]
        if list(numbers["state"]) != names:
            raise UserError(
                "the checkpoint was written by another version of the algorithm: its "
                f"state has {', '.join(numbers['state'])}, not {', '.join(names)}; "
                "start anew with another --out"
            )
        self._agent.restore(numbers["agent"])
        self._gossip.restore(numbers["gossip"])
        for clock, seconds in zip(self._clocks, numbers["clocks"], strict=True):
            clock.seconds = seconds
        state = rebuild(type(fresh), numbers["state"], saved.arrays)
        return saved.step, state, numbers["record"]

    def due(self, step: int) -> bool:
        """Whether the steps since the last checkpoint are as many as asked for."""
        every = self.upkeep.plan.steps
        return every > 0 and step % every == 0

    def wishes(self) -> tuple[bool, str | None]:
        """Whether this agent wants a checkpoint, and why it wants to stop, if it does.

        The next stretch, up to the next agreement, is judged to take as long as the
        longest so far.
        """
        now = monotonic()
        self._longest = max(self._longest, now - self._went_on)
        minutes = (now - self.upkeep.saved_at) / MINUTE
        save = 0 < self.upkeep.plan.minutes <= minutes
        return save, self.upkeep.stop_reason(self._longest)

    def heed(self, agreement: Agreement, step: int, state: Any, record: Record) -> bool:
        """Write a checkpoint if one agent wants it; stop if one wants to."""
        reason = agreement.reason
        wanted = agreement.save or reason is not None or (step > 0 and self.due(step))
        if wanted and step != self._saved_step:
            self._save(step, state, record)
        if reason is not None:
            self.upkeep.reason = reason
        self._went_on = monotonic()
        return reason is not None

    def end(self, step: int, state: Any, record: Record) -> None:
        """Keep what the last checkpoint of this algorithm is to hold."""
        if self._wanted:
            self._end = (step, *self._content(step, state, record))

    def save_end(self) -> None:
        """Write the last checkpoint, with this algorithm among those that are done.

        From it the next algorithm begins, or this one continues with a longer budget.
        """
        if self._end is not None:
            self._write(*self._end)

    @property
    def _wanted(self) -> bool:
        """Whether checkpoints are, where nothing interrupts the run."""
        return self.upkeep.plan.steps > 0 or self.upkeep.plan.minutes > 0

    def _save(self, step: int, state: Any, record: Record) -> None:
        self._write(step, *self._content(step, state, record))

    def _content(
        self, step: int, state: Any, record: Record
    ) -> tuple[Numbers, dict[str, Any]]:
        parts, arrays = flatten(state)
        numbers = {
            "step": step,
            "state": parts,
            "agent": self._agent.snapshot(),
            "gossip": self._gossip.snapshot(),
            "clocks": [clock.read() for clock in self._clocks],
            "record": record,
            "parameters": self.parameters,
        }
        return numbers, arrays

    def _write(self, step: int, numbers: Numbers, arrays: dict[str, Any]) -> None:
        self.doing = "a checkpoint"
        upkeep, start = self.upkeep, monotonic()
        upkeep.checkpoints.save(self.number, step, numbers, arrays, upkeep.done)
        upkeep.saved_at = monotonic()
        upkeep.save_seconds = max(upkeep.save_seconds, upkeep.saved_at - start)
        self._saved_step = step
