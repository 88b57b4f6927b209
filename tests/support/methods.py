"""Every registered algorithm with numbers for its parameters, for short test runs."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from pmgt_mpi.algorithms import ALGORITHMS
from pmgt_mpi.algorithms.traits import Traits

NUMBERS: dict[str, Any] = {
    "batch_size": 3,
    "step_size": 0.02,
    "momentum": 0.3,
    "mix_rounds": 6,
    "inner_rounds": 4,
    "inner_steps": 5,
    "period": 4,
    "probability": 0.3,
    "activation": 0.6,
    "relaxation": 0.9,
}
"""Values that are good enough for a few steps on a small, well-conditioned problem."""


def with_numbers(name: str) -> Any:
    """Make an algorithm whose every parameter has a number."""
    method: Any = ALGORITHMS.load(name)
    return method(**{f.name: NUMBERS[f.name] for f in fields(method)})


METHODS = {name: with_numbers(name) for name in ALGORITHMS}

TRAITS: dict[str, Traits] = {name: method.traits for name, method in METHODS.items()}

ON_NETWORKS = [name for name, traits in TRAITS.items() if not traits.alone]
"""Methods that run on any number of agents."""


def fits(name: str, agents: int) -> bool:
    """Whether a method runs on so many agents."""
    return agents == 1 or not TRAITS[name].alone
