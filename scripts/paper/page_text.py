"""The sentences of docs/reproduction.md; their numbers come from the runs."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from declared import Sweep
from methods import FULL, KATYUSHAX
from moving_grid import SLACK
from reproduced import DATA, Experiment
from trial_grids import SIZE
from trial_order import TIE

from pmgt_mpi.output.runs import Run


def introduction(experiments: Sequence[Experiment], sweep: Sweep) -> list[str]:
    """What this is, and how to make it again."""
    one = experiments[0].first
    seeds = sorted({seed for each in experiments for seed in each.runs})
    missing = [name for name in DATA if name not in {e.data for e in experiments}]
    lines = [
        "# The paper's experiments, run again",
        "",
        "Written by `bash scripts/reproduce.sh`, like its pictures, from run folders:",
        "",
        "```bash",
        "PMGT_DATA=/folder python -m pmgt_mpi.data fetch covtype   # once",
        "PMGT_DATA=/folder bash scripts/reproduce.sh               # one seed",
        "PMGT_DATA=/folder bash scripts/reproduce.sh --seeds 5     # with the spread",
        "```",
        "",
        f'Section "Numerical Experiments" of Liu and Low (AAAI 2024) on {one.agents} '
        f"MPI ranks, {_machine(one)}, engine",
        f"`{one.meta['engine']['name']}`. {_plural(len(seeds), 'seed')}: "
        f"{', '.join(map(str, seeds))}. Every method has its best parameters from one "
        "sweep,",
        f"{SIZE} trials in each grid, whose runs had other seeds "
        f"({', '.join(map(str, sweep.seeds))}).",
    ]
    if missing:
        lines += ["", f"Not run here: {', '.join(DATA[name] for name in missing)}."]
    return lines


def _machine(run: Run) -> str:
    hosts = len(set(run.meta["hosts"]))
    return "one host" if hosts == 1 else f"{hosts} hosts"


def _plural(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def reading(experiments: Sequence[Experiment], weight: float) -> list[str]:
    """How to read the tables."""
    targets = {one.ratio: one.target for one in experiments}
    told = " and ".join(f"{t:g} at r = {r}" for r, t in sorted(targets.items()))
    return [
        "A ratio is PMGT-KatyushaX's cost over the other method's, both at a relative "
        f"suboptimality of {told}:",
        "the median over the seeds, and in brackets the least and the largest. `<` "
        "marks a bound: the other method was",
        "stopped by its budget before it got there, so what it needs is larger still "
        "(`?`: neither got there). `diverges`",
        "says that the other method did. Gradients are counted as in the paper, b for "
        "a minibatch difference, unless a",
        f"column says 2b. The weighted cost is gradients + {weight:g} × rounds; the "
        "paper does not tell its weight (`--weight`).",
    ]


def whole_batches(experiments: Sequence[Experiment]) -> list[str]:
    """Say where PMGT-KatyushaX has become a method with full gradients."""
    there = [
        f"{DATA[one.data]} at r = {one.ratio}"
        for one in experiments
        for part in one.first.config["algorithm"]
        if part["name"] == KATYUSHAX and part["batch_size"] == one.n
    ]
    if not there:
        return []
    return [
        "",
        f"On {' and '.join(there)} the best b of PMGT-KatyushaX is n: T is 0 in every "
        "epoch, and",
        "its one inner step starts where the full gradient was taken, so that every "
        "minibatch difference is zero. What runs",
        "there is an accelerated method with full gradients, and no seed changes "
        "anything but its seconds. Two thirds of the 3n",
        "gradients that an epoch counts with 2b, and half of the paper's 2n, are those "
        "zero differences.",
    ]


def choices(experiments: Sequence[Experiment], sweep: Sweep) -> list[str]:
    """What the paper leaves open, and what was chosen."""
    run = experiments[0].first
    spectrum = [each.first.meta["network"]["lambda_2"] for each in experiments]
    seconds = run.config["stop"]["seconds"]
    kappa = [
        f"{each.constants['L'] / each.constants['sigma']:,.3g} ({each.name})"
        for each in experiments
    ]
    lines = [
        f'- **Agents and graph**: m = {run.agents}; "each agent is randomly connected '
        'to two neighbours" is read as a cycle',
        f"  through the agents in random order, with λ₂ = {median(spectrum):.4f} "
        "(the paper has 0.97; if every agent picked two",
        "  others, most would have four neighbours: `random-two-out`). "
        "W = I − L/λ_max(L).",
        f"- **Mixing**: {run.config['mixing']['method']} polynomials instead of the "
        "printed FastMix: fewer rounds for the same contraction.",
        "- **Data**: ±1 entries are independent and fair. Covtype's 54 features are "
        "scaled to [0, 1] and its label is left out;",
        "  the paper does not say in which order its rows went to the agents, so both "
        "are shown: the order of the file, in",
        "  which shards differ, and shuffled.",
        f"- **Condition number** L/σ: {', '.join(kappa)}.",
        "  That of ±1 noise depends on the draw (`docs/wins.md` has ten); this one is "
        "their lower median.",
        "- **A seed** varies the minibatches and the lengths of the epochs. Rows and "
        "graph stay, as tuned parameters belong to",
        "  them: on shards that differ, a step of NIDS that is best on one cycle "
        "diverges on another. So PG-EXTRA and NIDS,",
        "  which draw nothing, differ between seeds in seconds alone.",
        "- **b**: a Gaussian direction of norm 1. All methods start from 0.",
        f"- **Steps, batch sizes, M and momentum**: the least gradients (2b counted) + "
        f"{sweep.weight:g} × rounds in the sweep;",
        f"  of trials within {TIE - 1:.0%} of it, the one with the fewest rounds. Each "
        f"grid has {SIZE} trials for every method and",
        "  moves until its best trial has neighbours on all sides; a trial ends at "
        f"{SLACK:g} times the best so far, and",
        f"  the {sweep.finalists} best run with {len(sweep.seeds)} seeds: who is best "
        "in its worst run has won (`scripts/paper/sweep.toml`).",
        "  A grid that moves runs more trials than one that stays: PMGT-KatyushaX's, "
        "which has the momentum too, moved most.",
        "  Pilots shaped these rules: with gradients alone as the cost b went to a few "
        "rows and rounds to hundreds of thousands;",
        "  and after a look at runs of seed 1, where methods tuned on other graphs, or "
        "by the median of few runs, diverged, the",
        "  graph was fixed and the worst run made to count.",
        f"- **Budgets**: {_steps(run)}, and at most {seconds:g} s of its own clock,",
        f"  for each method: {_capped(experiments)}.",
        "- **F\\***: computed at set-up to machine precision; the paper takes the "
        "lowest value that any method reached.",
    ]
    return lines


def _steps(run: Run) -> str:
    """Steps that a method may take, as the config has them."""
    parts = run.config["algorithm"]
    epochs = max(part["steps"] for part in parts if part["name"] not in FULL)
    iterations = max(part["steps"] for part in parts if part["name"] in FULL)
    return f"{epochs:,} epochs, or {iterations:,} iterations of full gradients"


def _capped(experiments: Sequence[Experiment]) -> str:
    """Who was ended by the budget."""
    ended = [
        f"{method} on {each.name}"
        for each in experiments
        for method in each.first.traces
        if "budget" in each.status(method)
    ]
    return f"it ended {', '.join(ended)}" if ended else "it ended none of them"
