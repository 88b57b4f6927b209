"""The table of a tuning: one row for each trial."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

Row = dict[str, Any]


@dataclass(frozen=True)
class Tuned:
    """The trials of one algorithm, as they are written and drawn.

    Attributes
    ----------
    label, parameters
        The algorithm, and the parameters that were chosen.
    rows
        One for each trial: its number, budget, runs that have reached the goal, cost
        (None where it was not reached) and cost for a factor of e (None where it came
        no nearer), and each parameter.
    best
        Number of the best trial.
    """

    label: str
    parameters: list[str]
    rows: list[Row]
    best: int


def trial_rows(tuned: list[Tuned]) -> list[Row]:
    """All trials of all algorithms with the same columns; empty is what one lacks."""
    names = list(dict.fromkeys(name for one in tuned for name in one.parameters))
    rows = []
    for one in tuned:
        for row in one.rows:
            best = row["trial"] == one.best
            cells = {"algorithm": one.label, "best": int(best), **row}
            common = {key: cells[key] for key in cells if key not in names}
            common |= {name: cells.get(name, "") for name in names}
            rows.append({k: "" if v is None else v for k, v in common.items()})
    return rows
