"""Whether a person is looking, and what agent 0 shows while a run goes on."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from time import monotonic
from typing import Any, TextIO

LINE_EVERY = 5.0
"""Seconds between plain lines where nobody looks at a terminal."""

LAUNCHERS = {"mpirun", "mpiexec", "prterun", "orterun", "mpiexec.hydra"}

TERMINALS = ("/dev/pts/", "/dev/tty", "/dev/console")

USUAL_WIDTH = 80
"""Columns of a terminal that does not know its own width."""


def open_terminal() -> TextIO | None:
    """Open the terminal at which standard output ends; None if it ends elsewhere.

    Open MPI gives every rank a pseudo-terminal even if mpirun itself writes to a file:
    what counts is where the launcher writes. And it holds a line back until it is
    complete, which a bar never is: the bar goes straight to the launcher's terminal.
    """
    if not sys.stdout.isatty():
        return None
    parent = Path("/proc") / str(os.getppid())
    try:
        if (parent / "comm").read_text().strip() not in LAUNCHERS:
            return os.fdopen(os.dup(sys.stdout.fileno()), "w")
        if not str((parent / "fd" / "1").readlink()).startswith(TERMINALS):
            return None
        return (parent / "fd" / "1").open("w")
    except OSError:
        return None


def say(text: str = "") -> None:
    """Write a line for the user."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


class Progress:
    """How far one algorithm is: a bar on a terminal, else a line now and then.

    Parameters
    ----------
    label
        Name of the algorithm.
    steps
        Its budget.
    """

    def __init__(self, label: str, steps: int) -> None:
        self.label = label
        self.steps = steps
        self._bar: Any = None
        self._last = monotonic()
        self._terminal = open_terminal()
        if self._terminal is not None:
            from tqdm import tqdm

            columns = os.get_terminal_size(self._terminal.fileno()).columns
            self._bar = tqdm(
                total=steps,
                desc=label,
                unit="step",
                file=self._terminal,
                leave=False,
                ncols=(columns or USUAL_WIDTH) - 1,
                mininterval=0.2,
            )

    def show(self, step: int, record: dict[str, Any] | None) -> None:
        """Show the step, and the latest record if it is new."""
        note = _note(record) if record else None
        if self._bar is not None:
            self._bar.update(step - self._bar.n)
            if note:
                self._bar.set_postfix_str(note, refresh=False)
        elif monotonic() - self._last >= LINE_EVERY:
            self._last = monotonic()
            say(
                f"{self.label}: step {step} of {self.steps}"
                + (f", {note}" if note else "")
            )

    def close(self) -> None:
        """Clear the bar."""
        if self._terminal is not None:
            self._bar.close()
            self._terminal.close()


def _note(record: dict[str, Any]) -> str:
    relative = record.get("relative_suboptimality")
    if relative is not None:
        return f"relative suboptimality {relative:.2e}"
    return f"objective {record['objective']:.6g}"
