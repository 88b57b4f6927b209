"""When checkpoints are written, what they hold, and who asks a run to stop."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from time import monotonic
from typing import Any, NamedTuple

from pmgt_mpi.agent import Agent
from pmgt_mpi.checkpoints.statefile import Numbers, flatten, rebuild
from pmgt_mpi.checkpoints.store import Checkpoints
from pmgt_mpi.clock import Clock
from pmgt_mpi.config.sections import CheckpointSection
from pmgt_mpi.errors import UserError
from pmgt_mpi.gossip.gossip import Gossip
from pmgt_mpi.output.results import Finished, Record
from pmgt_mpi.watchdog.signals import Monitor
from pmgt_mpi.watchdog.watchdog import Position, Watchdog

MINUTE = 60.0

MARGIN = 0.5
"""Seconds before a wall-clock limit that are left for the results."""

Clocks = tuple[Clock, Clock, Clock]
"""Of the algorithm, of evaluation, and of all time."""


class Agreement(NamedTuple):
    """What all agents know of each other after an agreement.

    Attributes
    ----------
    seconds, wall_seconds
        The slowest agent's clock, and all time that the algorithm has taken.
    finite
        Whether every agent's iterate is.
    save
        Whether an agent wants a checkpoint.
    reason
        Why the first agent that wants to stop does; None if none does.
    """

    seconds: float
    wall_seconds: float
    finite: bool
    save: bool
    reason: str | None


class Unsaved(Position):
    """What the loop calls on its way, where nothing is saved and nobody interrupts.

    `Checkpointer` is the form that the command has. All agents call every method at the
    same steps, and tell each other their requests in between.

    Parameters
    ----------
    watchdog
        Looks on, if there is one.
    label
        Of the algorithm, for what the watchdog says.
    """

    def __init__(self, watchdog: Watchdog | None = None, label: str = "") -> None:
        self._watchdog = watchdog
        self._label = label

    def attach(self, agent: Agent, gossip: Gossip, clocks: Clocks) -> None:  # noqa: ARG002
        """Take charge of what a checkpoint must hold beside the state."""
        if self._watchdog is not None:
            self._watchdog.watch(self._label, gossip, self)

    def restore(self, fresh: Any) -> tuple[int, Any, Record] | None:  # noqa: ARG002
        """Return step, state and last record to continue from, if there are any.

        Parameters
        ----------
        fresh
            A state as the algorithm's `init` makes it.
        """
        return None

    def due(self, step: int) -> bool:  # noqa: ARG002
        """Whether all must agree at this step because a checkpoint is due."""
        return False

    def requests(self) -> tuple[bool, str | None]:
        """Whether this agent wants a checkpoint, and why it wants to stop, if it does.

        The steps at which all want a checkpoint need not be told: `due` knows them.
        """
        return False, None

    def act_on(
        self,
        agreement: Agreement,  # noqa: ARG002
        step: int,  # noqa: ARG002
        state: Any,  # noqa: ARG002
        record: Record,  # noqa: ARG002
    ) -> bool:
        """Write a checkpoint if an agent wants it; say whether to stop."""
        return False

    def note_end(self, step: int, state: Any, record: Record) -> None:
        """Take note of the end, which is no interruption."""

    def save_end(self) -> None:
        """Write the last checkpoint of an algorithm that is done."""


class Saved(NamedTuple):
    """What a checkpoint holds of one agent."""

    step: int
    numbers: Numbers
    arrays: dict[str, Any]


@dataclass
class Policy:
    """When to save and when to stop: what the algorithms of a run share.

    Attributes
    ----------
    checkpoints, every
        Where checkpoints go, and how often.
    done
        The algorithms that are done; with all their arrays on agent 0 only.
    monitor, watchdog
        The one knows of signals and of the limit of time, the other of agents that do
        not come.
    saved_at, save_seconds
        When the last checkpoint was written, or the run began; the longest that one
        took, or a guess before the first.
    reason
        Why the run was interrupted, if it was.
    """

    checkpoints: Checkpoints
    every: CheckpointSection
    done: list[Finished]
    monitor: Monitor
    watchdog: Watchdog | None = None
    saved_at: float = field(default_factory=monotonic)
    save_seconds: float = 0.5
    reason: str | None = None

    def stop_reason(self, next_seconds: float) -> str | None:
        """Why this agent would stop now, if the next stretch takes so long."""
        if self.monitor.asked is not None:
            return f"{self.monitor.asked} on agent {self.checkpoints.collective.agent}"
        end = monotonic() + next_seconds + self.save_seconds + MARGIN
        if end > self.monitor.deadline:
            return f"--max-seconds: the next steps may take {next_seconds:.2g} s"
        return None


class Checkpointer(Unsaved):
    """Writes the checkpoints of one algorithm, and continues it from one.

    Parameters
    ----------
    policy
        What it shares with the other algorithms.
    number
        Of the algorithm in the list.
    saved
        What to continue from; None to begin.
    label
        Of the algorithm, for what the watchdog says.
    """

    def __init__(
        self, policy: Policy, number: int, saved: Saved | None, label: str = ""
    ) -> None:
        super().__init__(policy.watchdog, label)
        self.policy = policy
        self.number = number
        self._saved = saved
        self._saved_step = saved.step if saved else -1
        self._longest = 0.0
        self._end: tuple[int, Numbers, dict[str, Any]] | None = None

    def attach(self, agent: Agent, gossip: Gossip, clocks: Clocks) -> None:
        """Take charge of streams, counters, and the clocks."""
        super().attach(agent, gossip, clocks)
        self._agent, self._gossip, self._clocks = agent, gossip, clocks
        self._agreed_at = monotonic()

    def restore(self, fresh: Any) -> tuple[int, Any, Record] | None:
        """Put back all that was saved; the state gets the kind of a fresh one.

        A state that no checkpoint can hold is refused here, and not at the end.
        """
        if self._saves:
            with self.policy.checkpoints.collective.agreed():
                flatten(fresh)
        saved, self._saved = self._saved, None
        if saved is None:
            return None
        numbers, checkpoints = saved.numbers, self.policy.checkpoints
        with checkpoints.collective.agreed():
            names = [field.name for field in fields(fresh)]
            if list(numbers["state"]) != names:
                raise UserError(
                    "the checkpoint was written by another version of the algorithm: "
                    f"its state has {', '.join(numbers['state'])}, not "
                    f"{', '.join(names)}; use that version, or start again with "
                    "another --out"
                )
        self._agent.restore(numbers["agent"])
        self._gossip.restore(numbers["gossip"])
        for clock, seconds in zip(self._clocks, numbers["clocks"], strict=True):
            clock.seconds = seconds
        state = rebuild(fresh, numbers["state"], saved.arrays)
        if checkpoints.folder is not None:
            checkpoints.folder.take_up()
        return saved.step, state, numbers["record"]

    def due(self, step: int) -> bool:
        """Whether the steps since the last checkpoint are as many as asked for."""
        every = self.policy.every.steps
        return every > 0 and step % every == 0

    def requests(self) -> tuple[bool, str | None]:
        """Whether this agent wants a checkpoint, and why it wants to stop, if it does.

        The next stretch, up to the next agreement, is judged to take as long as the
        longest so far.
        """
        now = monotonic()
        self._longest = max(self._longest, now - self._agreed_at)
        minutes = (now - self.policy.saved_at) / MINUTE
        save = 0 < self.policy.every.minutes <= minutes
        return save, self.policy.stop_reason(self._longest)

    def act_on(
        self, agreement: Agreement, step: int, state: Any, record: Record
    ) -> bool:
        """Write a checkpoint if one agent wants it; stop if one wants to."""
        reason = agreement.reason
        wanted = agreement.save or reason is not None or (step > 0 and self.due(step))
        if wanted and step != self._saved_step:
            self._save(step, state, record)
        if reason is not None:
            self.policy.reason = reason
        self._agreed_at = monotonic()
        return reason is not None

    def note_end(self, step: int, state: Any, record: Record) -> None:
        """Keep what the last checkpoint of this algorithm is to hold."""
        if self._saves:
            self._end = (step, *self._content(step, state, record))

    def save_end(self) -> None:
        """Write the last checkpoint, with this algorithm among those that are done.

        From it the next algorithm begins, or this one continues with a longer budget.
        """
        if self._end is not None:
            self._write(*self._end)

    @property
    def _saves(self) -> bool:
        """Whether checkpoints are, where nothing interrupts the run."""
        return self.policy.every.steps > 0 or self.policy.every.minutes > 0

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
        }
        return numbers, arrays

    def _write(self, step: int, numbers: Numbers, arrays: dict[str, Any]) -> None:
        self.doing = "a checkpoint"
        policy, start = self.policy, monotonic()
        policy.checkpoints.save(self.number, step, numbers, arrays, policy.done)
        policy.saved_at = monotonic()
        policy.save_seconds = max(policy.save_seconds, policy.saved_at - start)
        self._saved_step = step
