"""Hold the seconds that the plan foresees against runs, where every rank has a core.

    python scripts/plan_seconds.py [--pairs 3] [PROBLEM...]

prints the table of docs/cluster.md. Plan and run take turns, so that both see the same
machine; of each pair the ratio is taken, and of the pairs the median. The machine must
have nothing else to do.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.launcher import Result, mpirun
from tests.support.running import Left

METHODS = {"pmgt-katyushax": 40, "pmgt-svrg": 40, "nids": 2000, "pg-extra": 2000}
"""Steps of each: of an epoch, or of one gradient."""

DENSE = 'source = "{source}"\nrows = {rows}\ncolumns = {columns}\nlabels = "linear"'
SPARSE = 'source = "libsvm"\npath = "rows.svm"\nlayout = "sparse"'

PROBLEMS = {
    "pca": ("shift-invert PCA, d = 50", 'kind = "shift-invert-pca"\nratio = 2.0',
            'source = "bernoulli"\nrows = 20000\ncolumns = 50'),
    "ridge": ("ridge, d = 50", 'kind = "ridge"\nl2 = 0.1',
              DENSE.format(source="gaussian", rows=20000, columns=50)),
    "ridge-1000": ("ridge, d = 1000", 'kind = "ridge"\nl2 = 0.1',
                   DENSE.format(source="gaussian", rows=4000, columns=1000)),
    "logistic": ("logistic, d = 1000, CSR", 'kind = "logistic"\nl2 = 0.01', SPARSE),
}  # fmt: skip
"""Title, [problem] and [data] of each."""


def config(problem: str, methods: Iterable[str] = METHODS) -> str:
    """Return a config without evaluation, which the plan does not foresee."""
    _, kind, data = PROBLEMS[problem]
    parts = [
        f'[run]\nname = "{problem}"\nseed = 4', f"[data]\n{data}", f"[problem]\n{kind}",
        "[mixing]\nrounds = 4", "[stop]\nsteps = 40",
        "[evaluate]\nevery = 0\nreference = false",
    ]  # fmt: skip
    for name in methods:
        parts.append(f'[[algorithm]]\nname = "{name}"\nstep_size = 1e-3')
        parts[-1] += f"\nsteps = {METHODS[name]}"
        if name == "pmgt-katyushax":
            parts[-1] += "\nmomentum = 0.5"
    return "\n".join(parts) + "\n"


def write_sparse(path: Path, rows: int = 20000, columns: int = 1000) -> None:
    """Write rows with 14 entries each, as those of a9a have."""
    chance = np.random.default_rng(5)
    with path.open("w") as file:
        for row in range(rows):
            places = np.sort(chance.choice(columns, 14, replace=False)) + 1
            if row == 0:
                places[-1] = columns
            words = " ".join(f"{place}:1" for place in places)
            file.write(f"{chance.choice((-1, 1))} {words}\n")


def measured(folder: Path) -> dict[str, tuple[float, dict[str, float]]]:
    """Return the seconds of each algorithm's steps, and what was counted in them."""
    records = Left(folder).metrics
    told = {}
    for name in dict.fromkeys(one["algorithm"] for one in records):
        first, *_, last = [one for one in records if one["algorithm"] == name]
        spent = {key: last[key] - first[key] for key in ("step", "gradients", "rounds")}
        told[name] = last["seconds"] - first["seconds"], spent
    return told


def bound(ranks: int, args: list[str], folder: Path) -> Result:
    """Run on ranks that have a core each: left alone, two may share one for a while."""
    cores = ("--bind-to", "core")
    return mpirun(ranks, args, cwd=folder, timeout=120, mpirun_args=cores)


def pair(folder: Path, ranks: int, number: int) -> dict[str, tuple[float, float]]:
    """Plan, then run; return the foreseen and measured seconds of each algorithm."""
    plan = ["-m", "pmgt_mpi.plan", "--config", "config.toml", "--json"]
    plan += ["--ranks", str(ranks)]
    if ranks == 1:
        plan += ["--latency", "1", "--bandwidth", "1"]  # of links that there are not
    told = bound(ranks, plan, folder).expect(0).stdout
    out = f"run-{ranks}-{number}"
    run = ["-m", "pmgt_mpi.run", "--config", "config.toml", "--out", out]
    bound(ranks, run, folder).expect(0)
    took, both = measured(folder / out), {}
    for one in json.loads(told)["algorithms"]:
        price, (seconds, spent) = one["seconds_of"], took[one["algorithm"]]
        names = {"step": "step", "gradient": "gradients", "round": "rounds"}
        foreseen = sum(price[key] * spent[name] for key, name in names.items())
        both[one["algorithm"]] = foreseen, seconds
    return both


def compare(problem: str, ranks: int, pairs: int) -> list[dict[str, Any]]:
    """Return a row for each algorithm of a problem."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "config.toml").write_text(config(problem))
        write_sparse(folder / "rows.svm")
        trials = [pair(folder, ranks, number) for number in range(pairs)]
    rows = []
    for method in METHODS:
        ratios = [trial[method][0] / trial[method][1] for trial in trials]
        rows.append(
            {
                "problem": PROBLEMS[problem][0],
                "ranks": ranks,
                "method": method,
                "foreseen": median(trial[method][0] for trial in trials),
                "measured": median(trial[method][1] for trial in trials),
                "ratio": median(ratios),
                "ratios": ratios,
            }
        )
    return rows


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("problems", nargs="*", metavar="PROBLEM", default=[])
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--ranks", type=int, nargs="*", default=[1, 2])
    options = parser.parse_args()
    print(
        "| problem | ranks | method, steps | foreseen, s | run, s | ratio | of pairs |"
    )
    print("|---|---|---|---|---|---|---|")
    for problem in options.problems or PROBLEMS:
        for ranks in options.ranks:
            for row in compare(problem, ranks, options.pairs):
                steps = METHODS[row["method"]]
                each = ", ".join(f"{ratio:.2f}" for ratio in row["ratios"])
                print(
                    f"| {row['problem']} | {ranks} | {row['method']}, {steps} | "
                    f"{row['foreseen']:.3g} | {row['measured']:.3g} | "
                    f"{row['ratio']:.2f} | {each} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
