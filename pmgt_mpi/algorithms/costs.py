"""What a step costs, from the formulas that a method states (`Traits.cost`)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import product
from math import ceil
from typing import Any

from pmgt_mpi.algorithms.base import Algorithm


@dataclass(frozen=True)
class StepCost:
    """Of one agent, in one step."""

    gradients: float
    paper: float
    rounds: float
    vectors: int


def step_cost(method: Algorithm, n: int, *, T: int | None = None) -> StepCost:
    """Evaluate a method's formulas, all of its parameters being numbers.

    Without T it is the average: T + 1 = ⌈n/b⌉, coins by their probability (Λ of all S
    inner steps but the last), and steps of a period by their share. With T it is what a
    step costs in which T was drawn.
    """
    traits, own = method.traits, asdict(method)  # type: ignore[call-overload]
    b = own.get("batch_size") or 1
    letters = {letter: own[name] for name, letter in traits.letters}
    chance = own.get("probability") or 0.0
    values: dict[str, Any] = {
        **letters,
        "n": n,
        "b": b,
        "M": own.get("mix_rounds"),
        "T": ceil(n / b) - 1 if T is None else T,
        "Λ": max(0, letters.get("S", 0) - 1) * (own.get("activation") or 0.0),
    }
    period = letters.get("q") or 1
    totals = {"gradients": 0.0, "paper": 0.0, "rounds": 0.0}
    for k, C in product(range(1, period + 1), (0, 1)):
        weight = (chance if C else 1 - chance) / period
        for name in totals:
            formula = getattr(traits.cost, name)
            # The package's own words, in its own letters, and no names beside them.
            scope = {**values, "k": k, "C": C, "__builtins__": {}}
            totals[name] += weight * float(eval(formula, scope))
    return StepCost(**totals, vectors=traits.cost.vectors)
