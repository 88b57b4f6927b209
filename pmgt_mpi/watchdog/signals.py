"""The monitor: one thread that serves signals and the watchdog.

Python's own signal handlers run in the main thread, and not while it is blocked in MPI
or in compiled code. So the signals are blocked in all threads from the start, and this
one waits for them; between signals it looks, once a second, whether the main thread
waits for others too long. It costs the main thread nothing but the moment in which a
plain attribute is read.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from math import inf
from threading import Event, Thread
from time import monotonic, sleep
from typing import Any

from pmgt_mpi.clock import STOPS, TICK
from pmgt_mpi.terminal import printable

INTERRUPTED = 75
"""Exit code of a run that was asked to stop: EX_TEMPFAIL, try again."""

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1)

SAME = 0.3
"""Signals that come within so many seconds are one: a launcher may send its own after
the one that it forwards."""

COURTESY = 1.0
"""Seconds that other agents leave to agent 0 to speak for all."""


def block_signals() -> None:
    """Keep the signals for the monitor; called before any other thread is started."""
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)


class Monitor:
    """Waits for signals, and ends the job if it must be at once.

    Parameters
    ----------
    agent
        Who this is, for messages.
    has_launcher
        Whether the process that started this one is to outlive it.
    deadline
        When the set-up must be over, on the monotonic clock; later the loop keeps to
        the limit itself, and saves before it.
    signals
        Whether it serves signals, which must be blocked; in a program of the user's own
        they are the program's.

    Attributes
    ----------
    agent
        As above; by its rank until it is known which agent it is.
    asked
        The signal that asked for an end, by name; None as long as none did.
    set_up
        Whether no algorithm runs yet. Then there is nothing to save, and a signal ends
        the job at once; later the loop sees `asked` soon.
    abort
        Ends the whole job with an exit code; works from any thread. None before MPI is
        there: then the launcher ends the others.
    look
        Called at every tick: the watchdog.
    """

    def __init__(
        self,
        agent: int,
        *,
        has_launcher: bool,
        deadline: float = inf,
        signals: bool = True,
    ) -> None:
        self.asked: str | None = None
        self.set_up = True
        self.abort: Callable[[int], Any] | None = None
        self.look: Callable[[], None] | None = None
        self.agent = agent
        self._asked_at = 0.0
        self.deadline = deadline
        self._closing = Event()
        self._signals = signals
        self._parent = os.getppid() if has_launcher else None
        self._thread = Thread(target=self._serve, daemon=True, name="monitor")

    def start(self) -> None:
        """Start the thread."""
        STOPS.begin()
        self._thread.start()

    def begin_algorithms(self) -> None:
        """From now on there is something to save, and the loop sees what is asked."""
        self.set_up = False

    def close(self) -> None:
        """End the thread."""
        self._closing.set()
        if self._signals:
            assert self._thread.ident is not None
            signal.pthread_kill(self._thread.ident, signal.SIGUSR1)
        self._thread.join()
        STOPS.end()

    def end_job(self, code: int, message: str, *, courteous: bool = True) -> None:
        """Say why and end all ranks at once; agent 0 first, if that is courteous."""
        if courteous and self.agent != 0:
            sleep(COURTESY)
        lines = f"pmgt_mpi: {message}\n".split("\n")
        os.write(2, "\n".join(map(printable, lines)).encode())
        sleep(0.2)  # mpirun drops what it has not read when the job is aborted
        if self.abort is not None:
            self.abort(code)
        os._exit(code)

    def _serve(self) -> None:
        while True:
            left = self.deadline - monotonic() if self.set_up else TICK
            received = self._wait(min(TICK, max(0.0, left)))
            STOPS.look()
            if self._closing.is_set():
                return
            if received is not None:
                self._receive(received)
            elif self._parent is not None and os.getppid() != self._parent:
                os._exit(1)  # the launcher was killed: nobody else would end this rank
            elif self.set_up and monotonic() >= self.deadline:
                self._end_set_up("--max-seconds are over")
            elif self.look is not None:
                self.look()

    def _wait(self, seconds: float) -> str | None:
        """Wait for a signal, or so long; return the signal's name."""
        if not self._signals:
            self._closing.wait(seconds)
            return None
        received = signal.sigtimedwait(SIGNALS, seconds)
        # After a SIGSTOP and SIGCONT that outlast the tick, Python gives a number that
        # is no signal's.
        if received is None or received.si_signo not in SIGNALS:
            return None
        return signal.Signals(received.si_signo).name

    def _receive(self, name: str) -> None:
        now = monotonic()
        if self.asked is None:
            self.asked, self._asked_at = name, now
            if self.set_up:
                self._end_set_up(name)
        elif now - self._asked_at > SAME:
            self.end_job(
                INTERRUPTED,
                f"agent {self.agent}: a second signal, {name}: ended at once; the "
                "last checkpoint stays",
            )

    def _end_set_up(self, reason: str) -> None:
        self.end_job(
            INTERRUPTED,
            f"agent {self.agent}: {reason} during the set-up: ended, with nothing new "
            "to save",
        )
