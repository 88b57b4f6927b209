"""Run `auto` parameters on random problems that no config ships.

Usage: mpirun -n 8 python scripts/auto_problems.py [--problems 50] [--first 0]
       python scripts/auto_problems.py --rows random|hard [--problems 50] [--tuned]

Each problem draws the number of agents (1 to the number of ranks), graph, weights,
problem, regularizer, condition number up to 1e3 and shards that differ in size and in
distribution. Every algorithm that accepts the problem runs with all parameters `auto`.
None may diverge; the script counts how many reach a relative suboptimality of 1e-6.

With --rows all agents share this process (`scripts/auto_rows.py`): quadratics of 2 to
20 agents, 20 to 8000 rows for each, condition numbers up to 1e4, four graphs, unequal
shards. Each method runs with a guard and without one, for a cheap and a dear round.
None may diverge with a guard. The hard ones have ζ/L ≥ 6 and a condition above 2000.
With --tuned the steps of methods with one round a step are compared with the fewest.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter

import pmgt_mpi.environment as environment

environment.prepare()

import numpy as np  # noqa: E402
from mpi4py import MPI  # noqa: E402

import pmgt_mpi  # noqa: E402
from pmgt_mpi.algorithms import ALGORITHMS  # noqa: E402

TARGET = 1e-6
WANTED = 0.95
BUDGET = {"steps": 100_000, "seconds": 60.0}
GRAPHS = (
    "ring",
    "path",
    "star",
    "complete",
    "grid",
    "exponential",
    "erdos-renyi",
    "two-neighbours",
)


def draw(number: int, ranks: int) -> dict:
    """Draw one problem; every rank draws the same."""
    rng = np.random.default_rng([2024, number])
    m = int(rng.integers(1, ranks + 1))
    kind = str(rng.choice(["shift-invert-pca", "ridge", "logistic"]))
    return {
        "m": m,
        "kind": kind,
        "graph": str(rng.choice(GRAPHS)),
        "weights": str(rng.choice(["laplacian", "metropolis", "best-constant"])),
        "condition": float(10 ** rng.uniform(0.5, 3)),
        "psi": str(rng.choice(["none", "none", "l1", "elastic-net"])),
        "d": int(rng.integers(3, 40)),
        "sizes": [int(rng.integers(100, 1500)) for _ in range(m)],
        "difference": float(rng.uniform(0, 2)),
        "seed": int(rng.integers(1 << 30)),
    }


def rows_of(case: dict, agent: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and labels of one agent; agents differ in mean, scale and signal."""
    d, shift = case["d"], case["difference"]
    common = np.random.default_rng(case["seed"])
    scales = np.geomspace(1, 0.1, d)
    x_true = common.normal(size=d)
    own = np.random.default_rng([case["seed"], agent])
    A = own.normal(size=(case["sizes"][agent], d)) * scales
    A = A * (1 + shift * own.uniform()) + 0.5 * shift * own.normal(size=d) * scales
    z = A @ (x_true + shift * own.normal(size=d)) + 0.5 * own.normal(size=len(A))
    return A, np.where(z > 0, 1.0, -1.0) if case["kind"] == "logistic" else z


def problem_of(case: dict, comm: MPI.Intracomm, A: np.ndarray) -> dict:
    """Options that give the problem the drawn condition number."""
    total = comm.allreduce(len(A))
    G = comm.allreduce(A.T @ A) / total
    values = np.linalg.eigvalsh(G)
    kappa = case["condition"]
    if case["kind"] == "shift-invert-pca":
        # (λ_1 + gap/r − λ_d) / (gap/r) = kappa
        gap = values[-1] - values[-2]
        r = max((kappa - 1) * gap / (values[-1] - values[0]), 1e-3)
        return {"kind": case["kind"], "ratio": float(r)}
    top = values[-1] / (4 if case["kind"] == "logistic" else 1)
    return {"kind": case["kind"], "l2": float(top / kappa)}


def psi_of(case: dict) -> dict:
    """Return the regularizer that was drawn."""
    return {
        "none": {"kind": "none"},
        "l1": {"kind": "l1", "strength": 0.01},
        "elastic-net": {"kind": "elastic-net", "l1": 0.01, "l2": 0.001},
    }[case["psi"]]


def run_case(case: dict, comm: MPI.Intracomm, names: list[str]) -> list[str]:
    """Run every algorithm on one problem; their statuses."""
    A, y = rows_of(case, comm.rank)
    problem = problem_of(case, comm, A)
    statuses = []
    for name in names:
        traits = ALGORITHMS.load(name).traits
        if traits.alone and comm.size > 1:
            continue
        if case["psi"] != "none" and not traits.proximal:
            continue
        start = time.perf_counter()
        result = pmgt_mpi.solve(
            problem,
            A,
            y,
            regularizer=psi_of(case),
            network=case["graph"],
            weights=case["weights"],
            algorithm=name,
            relative_suboptimality=TARGET,
            evaluate_every=1 if "T" in traits.cost.gradients else 25,
            comm=comm,
            **BUDGET,
        )
        statuses.append(result.status)
        if comm.rank == 0:
            last = result.trace[-1]
            print(
                f"  {name:15} {result.status:9} {last['relative_suboptimality']:8.1e}"
                f"  {last['step']:6} steps {last['gradients']:12,.0f} gradients "
                f"{last['rounds']:8,} rounds {time.perf_counter() - start:5.1f} s  "
                + ", ".join(f"{k} {v:.4g}" for k, v in result.parameters.items()),
                flush=True,
            )
    return statuses


STEPS = {"epochs": 120, "iterations": 2000}
"""Of a run in one process: no target need be reached to see what diverges."""

COSTS = 1.0, 300.0
"""Of a round, in component gradients."""


def in_one_process(numbers: range, hard: bool, names: list[str], compare: bool) -> int:
    """Run on all agents at once; the exit code."""
    from auto_rows import draw_rows, run_rows, tuned

    counts: Counter[str] = Counter()
    ratios, shares = [], []
    for number in numbers:
        problem = draw_rows(number, hard)
        assert problem.hard or not hard, "a problem that is not as hard as it should be"
        for name in names:
            traits = ALGORITHMS.load(name).traits
            if traits.alone or traits.remembers:
                continue
            epochs = "T" in traits.cost.gradients
            for cost in COSTS if epochs else COSTS[:1]:
                method = ALGORITHMS.load(name)().resolve(problem.setting(cost))
                steps = STEPS["epochs" if epochs else "iterations"]
                alone = run_rows(problem, method, False, steps, TARGET)
                run = run_rows(problem, method, True, steps, TARGET)
                counts.update({f"alone {alone.status}": 1, run.status: 1, "runs": 1})
                counts["changed"] += run.changes > 0
                shares.append(run.asked / run.rounds)
                if run.status == "diverged":
                    print(f"problem {number}: {name} diverged, {method}", flush=True)
            if compare and name in ("nids", "extra"):
                fewest = tuned(problem, name, 20_000, TARGET)
                if fewest < np.inf:
                    most = int(20 * fewest) + 1000
                    run = run_rows(problem, method, True, most, TARGET)
                    done = run.status == "converged"
                    ratios.append(run.rounds / fewest if done else np.inf)
    print(
        f"{counts['runs']} runs: {counts['diverged']} diverged, without a guard "
        f"{counts['alone diverged']}; {counts['changed']} were changed, "
        f"{counts['converged']} reached {TARGET:g}; {np.mean(shares):.1%} of the "
        "rounds are the guard's"
    )
    if ratios:
        middle, high = np.quantile(ratios, [0.5, 0.9])
        print(
            f"{len(ratios)} runs of nids and extra: rounds over the tuned method's "
            f"{middle:.2f} (median), {high:.2f} (nine of ten), {max(ratios):.2f} (most)"
        )
    return int(counts["diverged"] > 0)


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--problems", type=int, default=50)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--algorithms", nargs="*", default=list(ALGORITHMS))
    parser.add_argument("--rows", choices=["random", "hard"])
    parser.add_argument("--tuned", action="store_true")
    options = parser.parse_args()
    if options.rows:
        numbers = range(options.first, options.first + options.problems)
        hard, names = options.rows == "hard", options.algorithms
        return in_one_process(numbers, hard, names, options.tuned)
    world = MPI.COMM_WORLD
    counts: Counter[str] = Counter()
    for number in range(options.first, options.first + options.problems):
        case = draw(number, world.size)
        comm = world.Split(int(world.rank >= case["m"]))
        if world.rank == 0:
            facts = {k: v for k, v in case.items() if k not in ("sizes", "seed")}
            print(f"problem {number}: {facts}", flush=True)
        if world.rank < case["m"]:
            counts.update(run_case(case, comm, options.algorithms))
        comm.Free()
        world.Barrier()
    if world.rank == 0:
        runs = sum(counts.values())
        share = counts["converged"] / runs
        print(
            f"{runs} runs: {counts['diverged']} diverged, {counts['converged']} "
            f"({share:.1%}) reached {TARGET:g}"
        )
        return 0 if counts["diverged"] == 0 and share >= WANTED else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
