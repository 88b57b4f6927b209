"""Clocks that count the seconds in which this process ran, and not those of a stop.

A scheduler may suspend a whole job (SIGSTOP, SIGCONT), and no clock of the system
leaves that out. So a thread that sleeps a second at a time notes when it comes back
much later than that, while the process has hardly used a processor: then it was
stopped. When within that second is not known, so a stop is known to half a second; one
of `SHORTEST` or less may not be found, and is counted then.
"""

from __future__ import annotations

from threading import Lock
from time import perf_counter, process_time
from types import TracebackType

TICK = 1.0
"""Seconds between looks."""

SHORTEST = 2 * TICK
"""Seconds between two looks from which on there was a stop, or a busy processor."""


class Stops:
    """When the process was stopped; `look` is called every `TICK` by one thread."""

    def __init__(self) -> None:
        self._found: list[tuple[float, float, float]] = []
        self._lock = Lock()
        self._looked = 0.0
        self._used = 0.0

    def begin(self) -> None:
        """Look from now on."""
        self._looked, self._used = perf_counter(), process_time()

    def end(self) -> None:
        """Nobody looks any more."""
        self._looked = 0.0

    def look(self) -> None:
        """Take note of a stop since the last look."""
        with self._lock:
            now, used = perf_counter(), process_time()
            passed = now - self._looked
            if self._looked and passed > SHORTEST and used - self._used < passed / 2:
                self._found.append((self._looked, now, passed - TICK / 2))
            if self._looked:
                self._looked, self._used = now, used

    def between(self, start: float, end: float) -> float:
        """Seconds for which the process was stopped then."""
        self.look()  # whoever asks may have woken up before the thread
        return sum(
            min(seconds, max(0.0, min(end, last) - max(start, first)))
            for first, last, seconds in self._found
        )


STOPS = Stops()


def seconds_since(start: float) -> float:
    """Seconds since `start`, of `perf_counter`, without those of a stop."""
    now = perf_counter()
    passed = now - start
    return passed if passed < SHORTEST else passed - STOPS.between(start, now)


class Clock:
    """Adds up the seconds spent inside ``with clock:``, but not those of a stop."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._start: float | None = None

    def read(self) -> float:
        """Seconds so far, of what runs now too."""
        running = 0.0 if self._start is None else seconds_since(self._start)
        return self.seconds + running

    def __enter__(self) -> None:
        self._start = perf_counter()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.seconds, self._start = self.read(), None
