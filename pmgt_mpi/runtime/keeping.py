"""What the loop knows of checkpoints and interruptions: one object, asked seldom."""

from __future__ import annotations

from typing import Any

from pmgt_mpi.agent import Agent
from pmgt_mpi.gossip.gossip import Gossip
from pmgt_mpi.runtime.clock import Clock
from pmgt_mpi.runtime.evaluation import Record


class Keeping:
    """Keeps nothing and is never interrupted: what `solve` has.

    `Keeper` is the form that the command has. All agents call every method at the same
    steps, and give each other their words in between.
    """

    parameters: dict[str, Any] | None = None
    """The algorithm's, as used so far, where a run goes on."""

    step = 0
    doing = ""
    """How many steps are done, and what else than a step is being done: the loop writes
    it down for the watchdog, which looks on from another thread."""

    def attend(self, agent: Agent, gossip: Gossip, clocks: tuple[Clock, Clock]) -> None:
        """Take charge of what a checkpoint must hold beside the state."""

    def restore(self, fresh: Any) -> tuple[int, Any, Record] | None:  # noqa: ARG002
        """Give step, state and last record to go on from, if there are any.

        Parameters
        ----------
        fresh
            A state as the algorithm's `init` makes it.
        """
        return None

    def due(self, step: int) -> bool:  # noqa: ARG002
        """Whether all must agree at this step because a checkpoint is due."""
        return False

    def word(self, step: int) -> Any:  # noqa: ARG002
        """What this agent tells the others at an agreement."""
        return None

    def heed(
        self,
        words: list[Any],  # noqa: ARG002
        step: int,  # noqa: ARG002
        state: Any,  # noqa: ARG002
        record: Record,  # noqa: ARG002
    ) -> bool:
        """Write a checkpoint if the agents' words ask for it; say whether to stop."""
        return False


IDLE = Keeping()
