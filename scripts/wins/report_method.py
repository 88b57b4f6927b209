"""The text of the document: how the trials were run, and what they do not show."""

from __future__ import annotations

from bernoulli_table import lower_median
from experiment import (
    COLUMNS,
    FINALISTS,
    ROWS,
    RUNGS,
    RUNS,
    SMALL_RUNGS,
    TARGETS,
)
from grid_search import Search
from methods import KATYUSHAX
from moving_grid import SLACK
from trial_order import TIE


def method_lines(ranks: bool, seed: int, kappas: dict[int, float]) -> list[str]:
    """Problem, grids, trials; up to the tables."""
    listed = ", ".join(f"{k:.0f}" for k in kappas.values())
    median = ""
    if seed == lower_median(kappas):
        median = ", the lower median (a rule that was made after a pilot on seed 1)"
    return [
        "# Where PMGT-KatyushaX wins",
        "",
        "Written by `scripts/wins`; the docstring of its `__main__.py` says how to run "
        "it again.",
        "",
        f"Shift-and-invert PCA on ±1 Bernoulli data, {ROWS} × {COLUMNS}, graph "
        "`two-neighbours`, Chebyshev mixing. The",
        f"condition number depends on the draw: at r = 2 seeds 0 to 9 have {listed}.",
        f"Seed {seed} is used{median}. Gradients are component gradients for "
        "each agent in units",
        "of n = N/m, a minibatch difference counted as 2b. Relative suboptimality "
        + ", ".join(f"{t:g} at r = {r}" for r, t in TARGETS.items())
        + ".",
        "",
        "- **Grids** of 36 trials for each method at m = 20, moved until the best of "
        "all trials has neighbours on both",
        "  sides along every axis. PMGT-SVRG: 4 steps × 3 b × 3 M. PMGT-KatyushaX: 3 "
        "steps × 3 b × 3 M, and 3 other momenta",
        "  at 3 steps. NIDS: 36 steps. Neighbours differ by 1.25 in step (NIDS 1.05), "
        "2 in b, √2 in momentum. b = n and",
        "  M = 1 are natural ends. `trials` counts all that moving the grid ran.",
        f"- **A trial** at r = 2 and m = 20 is the median of {RUNS[2]} runs with "
        f"different streams, else one run; at r = 300 the {FINALISTS} best of "
        "KatyushaX get",
        f"  {RUNS[2]} runs too, and the best median is taken. Of trials within "
        f"{TIE - 1:.0%}",
        "  of the fewest gradients the one with the fewest rounds is the optimum. A "
        f"run ends at {SLACK} times the best so far.",
        "- **PMGT-SVRG at r = 300** by successive halving, up to this multiple of "
        "KatyushaX's gradients: "
        + ", ".join(
            f"{multiple:g} times for {number}"
            for multiple, number in zip(
                [multiple for multiple, _ in RUNGS],
                ["all", *(keep for _, keep in RUNGS)],
                strict=False,
            )
        )
        + ";",
        "  the grid is moved at the first of these, by the gradients spent for each "
        "factor of e in suboptimality,",
        "  and about the winner of the last.",
        "- **m = 16 and 4**: grids of 12 in step and M at one b, one run a trial; at "
        f"r = 300 {SMALL_RUNGS[0][1]} of PMGT-SVRG continue from the first rung.",
        *_place(ranks),
    ]


def _place(ranks: bool) -> list[str]:
    """Where the trials ran."""
    if ranks:
        return [
            "- Trials ran with the agents as MPI ranks; seconds are the wall time of "
            "one run there."
        ]
    return [
        "- **Trials ran in one process**, with the agents as rows of an array; seconds "
        "are the wall time of one run there.",
        "  Algorithms and random streams are the package's own; gradients and mixing "
        "are written for such arrays.",
    ]


def momentum_lines(searches: list[Search]) -> list[str]:
    """What became of the trials with the paper's own momentum."""
    lines, untried = [], []
    for search in searches:
        m, r = search.lab.m, search.lab.r
        trials = [
            search.latest[KATYUSHAX, point]
            for point in search.seen[KATYUSHAX]
            if point[3] == 0
        ]
        if not trials:
            untried.append(f"m = {m}, r = {r}")
            continue
        reached = [
            median["gradients"]
            for median, _ in trials
            if median["status"] == "converged"
        ]
        runs = [run for _, own in trials for run in own]
        ended = [run["gradients"] for run in runs if run["status"] == "converged"]
        budgets = [run["budget"] for run in runs]
        factor = 2 ** (search.best[KATYUSHAX][3] / 2)
        line = (
            f"- m = {m}, r = {r}: the optimum has {factor:.3g} times the paper's "
            f"momentum. With the paper's own {len(reached)} of {len(trials)} trials"
        )
        line += " reached the target"
        if reached:
            line += f", the best with {min(reached):,.0f} n gradients"
        line += (
            f"; of their {len(runs)} single runs {len(ended)} did, within budgets of "
            f"{min(budgets):,.0f} to {max(budgets):,.0f} n."
        )
        lines.append(line)
    if untried:
        lines.append(
            f"- Not tried with the paper's own momentum: {'; '.join(untried)}. In the "
            "small grids `inside` speaks of step and M only."
        )
    return [
        "",
        "The paper's momentum is τ = √(t₀ησ)/2, t₀ = ⌈n/b⌉. A trial reaches the target "
        "if the median of its runs does:",
        "",
        *lines,
    ]
