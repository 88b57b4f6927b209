"""The algorithm's clock: it runs during steps and stands still during evaluation."""

from __future__ import annotations

from time import perf_counter
from types import TracebackType


class Clock:
    """Adds up the seconds spent inside ``with clock:``."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._start = 0.0

    def __enter__(self) -> None:
        self._start = perf_counter()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.seconds += perf_counter() - self._start
