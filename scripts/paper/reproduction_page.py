"""docs/reproduction.md: every number comes from the runs and from the sweep's table."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from claims import (
    CLAIMS,
    EVERY,
    FAILS,
    HOLDS,
    Claim,
    ratios,
    spread,
    verdict,
)
from declared import Sweep
from figures import NAMES, Picture
from page_text import choices, introduction, reading, whole_batches
from reproduced import DATA, METHODS, Experiment
from sweep_table import Row

COSTS = {
    "gradients_paper": "gradients",
    "gradients": "gradients, 2b counted",
    "rounds": "rounds",
    "cost": "weighted cost",
    "seconds": "seconds",
    "bytes": "bytes",
}
SHEET_WORDS = {
    "paper": "against gradients, communication rounds and weighted cost",
    "machine": "against seconds and bytes",
}


def page(
    experiments: Sequence[Experiment],
    pictures: Sequence[Picture],
    rows: Sequence[Row],
    sweep: Sweep,
    weight: float,
    folder: str,
) -> str:
    """The document; pictures lie in a folder beside it."""
    lines = [*introduction(experiments, sweep), "", "## The claims", ""]
    lines += [*reading(experiments, weight), "", *claim_table(experiments), ""]
    lines += [*tally(experiments), *whole_batches(experiments), ""]
    lines += ["All costs of PMGT-KatyushaX over those of each other method:", ""]
    lines += [*ratio_table(experiments), "", "## The pictures"]
    lines += [*picture_lines(experiments, pictures, folder), ""]
    lines += ["## What the paper leaves open", "", *choices(experiments, sweep), ""]
    lines += ["## Parameters and costs", "", *parameter_table(experiments, rows), ""]
    lines += [*cost_table(experiments)]
    return "\n".join(lines) + "\n"


def claim_table(experiments: Sequence[Experiment]) -> list[str]:
    """One row for each claim and the data that it is held against."""
    lines = [
        "| data | r | PMGT-KatyushaX needs, says the paper | measured, over | |",
        "|---|---|---|---|---|",
    ]
    for claim, one in held(experiments):
        measured = "<br>".join(
            f"{NAMES[rival]}: {spread(ratios(one, rival, claim.cost))}"
            for rival in claim.rivals
        )
        lines.append(
            f"| {DATA[one.data]} | {one.ratio} | {claim.words} | {measured} "
            f"| {verdict(claim, one)} |"
        )
    return lines


def tally(experiments: Sequence[Experiment]) -> list[str]:
    """How many of the claims hold, each on the data that it is held against."""
    told = [verdict(claim, one) for claim, one in held(experiments)]
    holding, failing = told.count(HOLDS), told.count(FAILS)
    rest = len(told) - holding - failing
    return [
        f"Of {len(told)} rows {holding} hold on every seed, {failing} on none, and "
        f"{rest} on some or it is not known."
    ]


def held(experiments: Sequence[Experiment]) -> list[tuple[Claim, Experiment]]:
    """Every claim with every data set and r that it speaks of."""
    return [
        (claim, one)
        for claim in CLAIMS
        for one in experiments
        if one.data.startswith(claim.family) and one.ratio == claim.ratio
    ]


def ratio_table(experiments: Sequence[Experiment]) -> list[str]:
    """PMGT-KatyushaX over every rival, in every cost."""
    lines = [
        f"| data | r | over | {' | '.join(COSTS.values())} |",
        "|---|---|---|" + "---|" * len(COSTS),
    ]
    for one in experiments:
        for rival in EVERY:
            cells = [spread(ratios(one, rival, cost)) for cost in COSTS]
            lines.append(
                f"| {DATA[one.data]} | {one.ratio} | {NAMES[rival]} "
                f"| {' | '.join(cells)} |"
            )
    return lines


def picture_lines(
    experiments: Sequence[Experiment], pictures: Sequence[Picture], folder: str
) -> list[str]:
    """The pictures, by data set."""
    seeds = max(len(one.runs) for one in experiments)
    faint = " Faint lines are the other seeds." if seeds > 1 else ""
    lines = ["", "r = 2 is on the left, r = 300 on the right; axes are logarithmic" + (
        " where\ncosts are more than 1 : 100 apart." + faint
    )]  # fmt: skip
    for data, sheet, name in pictures:
        if sheet == "paper":
            figure = "Figure 1" if data == "synthetic" else "Figure 2"
            lines += ["", f"### {DATA[data]} (the paper's {figure})"]
        words = f"{DATA[data]}: relative suboptimality {SHEET_WORDS[sheet]}"
        lines += ["", f"![{words}]({folder}/{name})"]
    return lines


def parameter_table(
    experiments: Sequence[Experiment], rows: Sequence[Row]
) -> list[str]:
    """Best parameters, from the sweep's table."""
    lines = [
        "The sweep's optima (`scripts/paper/sweep.csv` has the ranges tried). `trials` "
        "counts all that a moving grid has run:",
        "",
        "| problem | method | step | b | M | momentum | trials | inside | ended |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    names = {one.name for one in experiments}
    for row in rows:
        if row["problem"] in names:
            keys = ("step_size", "batch_size", "mix_rounds", "momentum", "trials")
            cells = [row[key] for key in keys]
            lines.append(
                f"| {row['problem']} | {NAMES[row['method']]} | {' | '.join(cells)} "
                f"| {row['inside']} | {row['status']} |"
            )
    return lines


def cost_table(experiments: Sequence[Experiment]) -> list[str]:
    """What each method spent, as medians over the seeds."""
    lines = [
        "Cost to reach the target, or to where the budget ended; medians over the",
        "seeds, gradients in n, bytes of all agents together:",
        "",
        "| problem | method | ended | at | gradients | 2b counted | rounds | seconds "
        "| MB |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for one in experiments:
        for method in METHODS:
            ends = [
                one.reached(seed, method) or one.last(seed, method) for seed in one.runs
            ]

            def middle(cost: str, ends: list[dict[str, float]] = ends) -> float:
                return median(end[cost] or float("inf") for end in ends)

            lines.append(
                f"| {one.name} | {NAMES[method]} | {', '.join(_ended(one, method))} "
                f"| {middle('relative_suboptimality'):.1e} "
                f"| {middle('gradients_paper') / one.n:,.1f} "
                f"| {middle('gradients') / one.n:,.1f} | {middle('rounds'):,.0f} "
                f"| {middle('seconds'):.2f} | {middle('bytes') / 1e6:,.1f} |"
            )
    return lines


def _ended(one: Experiment, method: str) -> list[str]:
    """Statuses, with how often where they differ."""
    found = one.status(method)
    kinds = sorted(set(found))
    if len(kinds) == 1:
        return kinds
    return [f"{kind} ({found.count(kind)})" for kind in kinds]
