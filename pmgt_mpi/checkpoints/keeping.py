"""What the loop knows of checkpoints and interruptions: one object, asked seldom."""

from __future__ import annotations

from typing import Any, NamedTuple

from pmgt_mpi.agent import Agent
from pmgt_mpi.clock import Clock
from pmgt_mpi.gossip.gossip import Gossip
from pmgt_mpi.output.results import Record
from pmgt_mpi.watchdog.watchdog import Position


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


class Keeping(Position):
    """Keeps nothing and is never interrupted.

    `Keeper` is the form that the command has. All agents call every method at the same
    steps, and tell each other their wishes in between.
    """

    parameters: dict[str, Any] | None = None
    """The algorithm's, as used so far, where a run continues."""

    def attend(
        self, agent: Agent, gossip: Gossip, clocks: tuple[Clock, Clock, Clock]
    ) -> None:
        """Take charge of what a checkpoint must hold beside the state."""

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

    def wishes(self) -> tuple[bool, str | None]:
        """Whether this agent wants a checkpoint, and why it wants to stop, if it does.

        The steps at which all want a checkpoint need not be told: `due` knows them.
        """
        return False, None

    def heed(
        self,
        agreement: Agreement,  # noqa: ARG002
        step: int,  # noqa: ARG002
        state: Any,  # noqa: ARG002
        record: Record,  # noqa: ARG002
    ) -> bool:
        """Write a checkpoint if the agents wish for it; say whether to stop."""
        return False

    def end(self, step: int, state: Any, record: Record) -> None:
        """Take note of the end, which is no interruption."""


IDLE = Keeping()
