"""The labs of this search: ±1 data of one seed, which seeds the graph too."""

from __future__ import annotations

from math import log, sqrt
from typing import TYPE_CHECKING

from experiment import COLUMNS, ROWS
from methods import KATYUSHAX, NIDS, SVRG
from row_lab import RowLab

from pmgt_mpi.config.read import check_config

if TYPE_CHECKING:
    from trial_grids import Point

    from pmgt_mpi.config.schema import Config

START: dict[tuple[int, str], Point] = {
    (2, KATYUSHAX): (5, 2, 6, 2),
    (2, SVRG): (7, 2, 6),
    (2, NIDS): (3,),
    (300, KATYUSHAX): (7, 2, 6, 0),
    (300, SVRG): (7, 2, 6),
}

EVERY = {2: (20, 1), 300: (20, 3)}
"""Steps between evaluations: about 1 % of a run."""


def start(m: int, r: int, method: str) -> Point:
    """Where the search begins; fewer agents average less noise, and mix faster."""
    point = START[r, method]
    if method == NIDS or m == 20:
        return point
    step = point[0] + round(log(sqrt(m / 20), 1.25))
    # The momentum is √2 times the paper's, the best with 20 agents.
    return (step, point[1], point[2] if m > 8 else 2, *(1 for _ in point[3:]))


def config_of(r: int, seed: int) -> Config:
    """Config of the runs on ranks, and of those in one process."""
    values = {
        "run": {"seed": seed},
        "network": {"topology": "two-neighbours"},
        "data": {"source": "bernoulli", "rows": ROWS, "columns": COLUMNS},
        "problem": {"kind": "shift-invert-pca", "ratio": float(r)},
        "algorithm": [{"name": NIDS}],
    }
    return check_config(values, "wins", ".")


class OneProcess(RowLab):
    """All agents in one process."""

    def __init__(self, m: int, r: int, seed: int) -> None:
        super().__init__(config_of(r, seed), m, EVERY[r], graph_seed=seed)
        self.r, self.seed = r, seed
