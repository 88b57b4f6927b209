"""Every registered algorithm with numbers for its parameters, for short test runs."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from pmgt_mpi.algorithms import ALGORITHMS

NUMBERS: dict[str, Any] = {
    "batch_size": 3,
    "step_size": 0.02,
    "momentum": 0.3,
    "mix_rounds": 6,
}
"""Values that are good enough for a few steps on a small, well-conditioned problem."""


def with_numbers(name: str) -> Any:
    """Make an algorithm whose every parameter has a number."""
    method: Any = ALGORITHMS.load(name)
    return method(**{f.name: NUMBERS[f.name] for f in fields(method)})


METHODS = {name: with_numbers(name) for name in ALGORITHMS}
