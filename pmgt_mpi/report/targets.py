"""The cost to reach 1e-2, 1e-4 …: one row for each target and algorithm."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from pmgt_mpi.errors import UserError
from pmgt_mpi.output.reading import Record
from pmgt_mpi.pictures.curves import Curve

LEAST = 1e-16
"""No target is below the rounding error of float64."""


@dataclass(frozen=True)
class Reached:
    """When an algorithm first had a relative suboptimality of a target or less.

    Attributes
    ----------
    record
        The first such line of metrics.jsonl; None if there is none.
    """

    target: float
    curve: Curve
    record: Record | None

    def cost(self, name: str) -> float | None:
        """One of `COSTS`, as the record has it."""
        return None if self.record is None else self.record[name]


def targets(curves: Sequence[Curve]) -> list[float]:
    """1e-2, 1e-4 … down to the last that any algorithm has reached, but 1e-2 always."""
    values = [y for curve in curves for _, y in _relative(curve)]
    least = max(min(values, default=1.0), LEAST)
    # One tenth of a target does not have an exact logarithm: −4 may come out above it.
    lowest = math.floor(-math.log10(least) / 2 + 1e-9)
    return [float(f"1e-{2 * k}") for k in range(1, max(lowest, 1) + 1)]


def reached(curves: Sequence[Curve]) -> list[Reached]:
    """All rows, by target, then in the order of the curves; none if F* is unknown."""
    known = [curve for curve in curves if _relative(curve)]
    return [
        Reached(target, curve, _first(curve, target))
        for target in targets(known)
        for curve in known
    ]


def require_reached(curves: Sequence[Curve]) -> list[Reached]:
    """Return the rows, of which there must be some."""
    rows = reached(curves)
    if not rows:
        raise UserError(
            "no run has a relative suboptimality, so there are no costs to reach one; "
            "run with evaluate.reference = true"
        )
    return rows


def target_name(target: float) -> str:
    """1e-2, not 1e-02."""
    return f"{target:.0e}".replace("e-0", "e-")


def best(rows: Sequence[Reached], target: float, cost: str) -> float | None:
    """The least that any algorithm paid for a target, where there is a choice."""
    paid = [row.cost(cost) for row in rows if row.target == target]
    reaching = [value for value in paid if value is not None]
    return min(reaching) if len(paid) > 1 and reaching else None


def _first(curve: Curve, target: float) -> Record | None:
    for record in curve.records:
        value = record["relative_suboptimality"]
        if value is not None and value <= target:
            return record
    return None


def _relative(curve: Curve) -> list[tuple[float, float]]:
    return curve.points("step", "relative_suboptimality")
