"""A trial: parameters, its runs with several streams, and how it is judged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from math import inf, log
from typing import Any, Literal, NamedTuple

from numpy.typing import NDArray

from pmgt_mpi.config.sections import AlgorithmSection
from pmgt_mpi.output.series import Result
from pmgt_mpi.tune.cost import Formula
from pmgt_mpi.tune.space import Choice

Judge = Literal["median", "worst"]

REACHED, NEARER, NO_NEARER = 0, 1, 2
"""How a run ended: at the goal, on its way, or no nearer than it began."""

ENDED = ("converged", "diverged", "refused", "failed")
"""Statuses of runs that a larger budget does not change."""


class Score(NamedTuple):
    """How good a run is, or a trial: less is better.

    Attributes
    ----------
    kind
        `REACHED`, `NEARER` or `NO_NEARER`.
    value
        Of the first the cost; of the second the cost for a factor of e of what is
        left; of the third how soon it ended, the sooner the worse.
    """

    kind: int
    value: float


def score_of(result: Result, cost: Formula) -> Score:
    """Judge one run."""
    if "end" not in result:
        return Score(NO_NEARER, inf)
    paid = cost(result["end"])
    if result["status"] == "converged":
        return Score(REACHED, paid)
    rate = rate_of(result, cost)
    if rate < inf:
        return Score(NEARER, rate)
    return Score(NO_NEARER, 1 / paid if paid > 0 else inf)


def rate_of(result: Result, cost: Formula) -> float:
    """What a run pays for a factor of e of what is left; infinity without one."""
    left = result.get("left")
    if result["status"] == "diverged" or left is None or not 0 < left < 1:
        return inf
    return cost(result["end"]) / -log(left)


@dataclass
class Trial:
    """Parameters of one algorithm, and what its runs have left.

    Attributes
    ----------
    number
        In the order in which trials are made; 0 has the config's own values.
    place
        In the unit cube that its ranges make.
    section, choices
        The algorithm with the parameters, and the ranges that these are from.
    runs
        The latest result with each stream.
    budget
        The largest cost that its runs might have.
    """

    number: int
    place: NDArray[Any]
    section: AlgorithmSection
    choices: list[Choice]
    runs: dict[int, Result] = field(default_factory=dict)
    budget: float = 0.0

    def score(self, cost: Formula, judge: Judge) -> Score:
        """Judge all runs: by the worst, or by the median (the worse one of two)."""
        scores = sorted(score_of(run, cost) for run in self.runs.values())
        return scores[-1 if judge == "worst" else len(scores) // 2]

    def rate(self, cost: Formula) -> float | None:
        """Cost for a factor of e of what is left, the median of the runs on their way.

        None where half of them have come no nearer.
        """
        rates = sorted(rate_of(run, cost) for run in self.runs.values())
        rate = rates[len(rates) // 2]
        return rate if rate < inf else None

    def parameters(self) -> dict[str, Any]:
        """All parameters of the method, as its runs have used them."""
        used = (run["parameters"] for run in self.runs.values() if "parameters" in run)
        return next(used, {})

    def edges(self) -> Iterator[tuple[Choice, str]]:
        """Choices that lie at an end of their range."""
        for choice in self.choices:
            if choice.edge is not None:
                yield choice, choice.edge
