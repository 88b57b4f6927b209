"""What was aimed at, as ratios to C or to a bare program."""

from __future__ import annotations

from typing import Any

SIZES = (50, 500, 5000)

ROUNDS = {
    (2, "python"): dict(zip(SIZES, (3.3, 2.3, 1.4), strict=True)),
    (2, "compiled"): dict(zip(SIZES, (1.5, 1.3, 1.1), strict=True)),
    (4, "python"): dict(zip(SIZES, (2.5, 1.9, 1.5), strict=True)),
    (4, "compiled"): dict.fromkeys(SIZES, 1.4),
    (8, "python"): dict(zip(SIZES, (2.5, 1.9, 1.5), strict=True)),
    (8, "compiled"): dict.fromkeys(SIZES, 1.4),
}

EPOCHS = {
    (2, "python", 173): 3.5,
    (2, "python", 500): 2.6,
    (2, "compiled", 173): 1.15,
    (2, "compiled", 500): 1.15,
    (8, "compiled", 173): 1.25,
    (8, "compiled", 500): 1.25,
}

STARTUP_RATIO = {8: 1.5, 16: 1.5}
STARTUP_SECONDS_MORE = {2: 0.4}
MEMORY_MORE = 120e6
"""Bytes of a rank beyond its shard and the bare program."""

GROWTH = 1.2
"""Growth of an inner step with n, against that of the gather in C."""


class Verdicts:
    """Marks figures that have a target, and remembers those that miss it."""

    def __init__(self) -> None:
        self.missed: list[str] = []

    def mark(self, what: str, value: float, target: float | None, text: str) -> str:
        """Return the text with its target, bold where it is missed."""
        if target is None:
            return text
        if value <= target:
            return f"{text} (≤ {target:g})"
        self.missed.append(f"{what}: {value:.2f}, target {target:g}")
        return f"**{text}** (≤ {target:g})"


def ratio_text(ratio: dict[str, Any]) -> str:
    """Median and quartiles of a ratio."""
    return f"{ratio['median']:.2f} [{ratio['low']:.2f}, {ratio['high']:.2f}]"
