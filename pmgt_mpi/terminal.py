"""What is written for the user, and whether a person looks on while it runs."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Any, NoReturn, TextIO

from pmgt_mpi.errors import DiskError, UserError

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
    encoding = sys.stdout.encoding
    try:
        if (parent / "comm").read_text().strip() not in LAUNCHERS:
            own = os.dup(sys.stdout.fileno())
            return os.fdopen(own, "w", encoding=encoding, errors="replace")
        if not str((parent / "fd" / "1").readlink()).startswith(TERMINALS):
            return None
        return (parent / "fd" / "1").open("w", encoding=encoding, errors="replace")
    except OSError:
        return None


def command(main: Callable[[], int]) -> NoReturn:
    """Run a command, and end the process with its exit code.

    Its output does not end it: neither a character that the terminal's encoding lacks
    nor a reader that is gone, as in ``--list | head -1``.
    """
    if sys.stdout is None:  # closed by whoever started the process
        sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115 (until the end)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    code: Any
    try:
        code = main()
    except SystemExit as end:
        code = end.code
    except UserError as error:
        code = complain(error)
    try:
        write("")  # what argparse has written is still to be flushed
    except DiskError as error:
        code = complain(error)
    sys.exit(code)


def write(text: str) -> None:
    """Write to standard output; to nowhere from when nobody reads it."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        # As the manual of Python says: the end flushes once more what is left.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            raise DiskError(f"cannot write the output: {error.strerror}") from None


def say(text: str = "") -> None:
    """Write lines for the user; a run continues where they cannot be written."""
    lines = "\n".join(map(printable, text.split("\n")))
    with suppress(DiskError):  # of a log, or of a terminal that is gone
        write(lines + "\n")


def complain(error: UserError) -> int:
    """Say what is wrong on standard error; return the exit code."""
    text = "\n".join(map(printable, str(error).split("\n")))
    sys.stderr.write(f"pmgt_mpi: error: {text}\n")
    return error.exit_code


def printable(text: str) -> str:
    r"""Write out what cannot be printed, as \x1b, which begins orders to a terminal.

    Names of algorithms, runs, files and hosts are text from outside.
    """
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode()
        for letter in text
    )


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
        self.label = printable(label)
        self.steps = steps
        self._bar: Any = None
        self._last = monotonic()
        self._terminal = open_terminal()
        if self._terminal is not None:
            from tqdm import tqdm

            columns = os.get_terminal_size(self._terminal.fileno()).columns
            self._bar = tqdm(
                total=steps,
                desc=self.label,
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
        if self._terminal is None:
            return
        self._bar.close()
        with suppress(OSError):  # it may be gone
            self._terminal.close()


def _note(record: dict[str, Any]) -> str:
    relative = record.get("relative_suboptimality")
    if relative is not None:
        return f"relative suboptimality {relative:.2e}"
    return f"objective {record['objective']:.6g}"
