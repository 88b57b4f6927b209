"""Clocks: that of the algorithm runs during steps and stands still in evaluation."""

from __future__ import annotations

from time import perf_counter
from types import TracebackType

from pmgt_mpi.awake import seconds_since


class Clock:
    """Adds up the seconds spent inside ``with clock:``, but not those of a stop."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._start = 0.0

    def read(self) -> float:
        """Seconds so far, inside of it."""
        return self.seconds + seconds_since(self._start)

    def __enter__(self) -> None:
        self._start = perf_counter()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.seconds += seconds_since(self._start)
