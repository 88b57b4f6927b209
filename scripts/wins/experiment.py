"""What is compared, what is demanded, and how much is spent on the search."""

from __future__ import annotations

from methods import NIDS, SVRG

ROWS, COLUMNS = 60_000, 50
TARGETS = {2: 1e-10, 300: 1e-6}
RIVALS = {2: (SVRG, NIDS), 300: (SVRG,)}
DEMANDS = {(2, NIDS): 1 / 20, (2, SVRG): 0.8, (300, SVRG): 1 / 10}
CASES = [(20, 2), (20, 300), (16, 2), (16, 300), (4, 2), (4, 300)]
RUNS = {2: 3, 300: 1}
"""Runs of a trial, each with random streams of its own; the median counts."""

CAP = {2: 1000.0, 300: 4000.0}
"""Gradients, in n, at which a run ends while no trial has converged; NIDS: 20 times."""
RUNGS = ((0.25, 12), (1.0, 4), (3.0, 2), (10.5, 1))
"""Successive halving for the loser at r = 300: the budget as a multiple of KatyushaX's
gradients, and how many remain. The best trial must lie inside the grid, at the
first rung, where all trials run."""
SMALL_RUNGS = ((0.25, 2), (3.0, 1), (10.5, 1))
"""The same for the small grids."""
FINALISTS = 6
"""Trials of KatyushaX at r = 300 that get as many runs as every trial has at r = 2."""
MOVES = 30
"""Times that a grid may move."""


def shorten() -> None:
    """Make everything small, to see that the script works."""
    global MOVES
    MOVES = 2
    TARGETS.update({2: 1e-1, 300: 0.5})
    RUNS.update({2: 1})
    CAP.update({2: 60.0, 300: 60.0})
