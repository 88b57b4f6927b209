"""How long measuring the constants takes, beside a run with `auto` to 1e-6.

Usage: mpirun -n 4 python scripts/constants_seconds.py [PROBLEM...]

prints a row for each problem: the seconds of set-up that the constants took, those of
PMGT-KatyushaX with all parameters `auto` until F − F* is 1e-6 of what it was, and their
ratio, which is to be at most a tenth. Problems on a file need it in PMGT_DATA.
"""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pmgt_mpi.environment as environment

environment.prepare()

from mpi4py import MPI  # noqa: E402

from pmgt_mpi.config.read import check_config  # noqa: E402
from pmgt_mpi.execution.algorithm import run_algorithm  # noqa: E402
from pmgt_mpi.execution.engine import choose_engine  # noqa: E402
from pmgt_mpi.execution.run import set_up  # noqa: E402
from pmgt_mpi.mpi.collective import Collective  # noqa: E402
from pmgt_mpi.parameters.resolve import resolve  # noqa: E402

TARGET, SHARE = 1e-6, 0.1

SIGNS = {"source": "bernoulli", "rows": 60000, "columns": 50}
GAUSSIAN = {"source": "gaussian", "condition": 100.0}


def pca(ratio: float) -> dict[str, Any]:
    """[problem] of the paper."""
    return {"kind": "shift-invert-pca", "ratio": ratio}


def file(path: str) -> dict[str, Any]:
    """[data] of a LIBSVM file."""
    return {"source": "libsvm", "path": path, "partition": "shuffled"}


PROBLEMS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "synthetic r=2": (SIGNS, pca(2.0)),
    "synthetic r=20": (SIGNS, pca(20.0)),
    "synthetic r=300": (SIGNS, pca(300.0)),
    "covtype r=2": (file("covtype.data.xz") | {"source": "csv"}, pca(2.0)),
    "a9a ridge": (file("a9a.bz2"), {"kind": "ridge", "l2": 1e-3}),
    "a9a logistic": (file("a9a.bz2"), {"kind": "logistic", "l2": 1e-3}),
    "w8a PCA": (file("w8a.bz2"), pca(2.0)),
    "different ridge": (
        GAUSSIAN
        | {"rows": 20000, "columns": 40, "labels": "linear", "partition": "by-label"},
        {"kind": "ridge", "l2": 1e-3},
    ),
    "indefinite quadratics": (
        GAUSSIAN | {"rows": 8000, "columns": 20, "labels": "linear"},
        {"kind": "indefinite-quadratic", "condition": 100.0, "l1": 5.0, "l2": 20.0},
    ),
    "ridge, d = 400": (
        GAUSSIAN | {"rows": 8000, "columns": 400, "labels": "linear"},
        {"kind": "ridge", "l2": 1e-3},
    ),
    "ridge, d = 1000": (
        GAUSSIAN | {"rows": 8000, "columns": 1000, "labels": "linear"},
        {"kind": "ridge", "l2": 1e-3},
    ),
    "logistic, d = 1000": (
        GAUSSIAN | {"rows": 8000, "columns": 1000, "labels": "sign"},
        {"kind": "logistic", "l2": 1e-3},
    ),
}
"""[data] and [problem] of each."""


def measure(name: str, everyone: Collective) -> list[Any]:
    """Set up and run one problem: its dimension, both times, and how the run ended."""
    data, problem = PROBLEMS[name]
    values = {
        "data": data,
        "problem": problem,
        "stop": {"steps": 100_000, "relative_suboptimality": TARGET, "seconds": 60.0},
        "evaluate": {"every": "auto"},
        "algorithm": [{"name": "pmgt-katyushax"}],
    }
    config = check_config(values, name, str(Path.cwd()))
    engine = choose_engine(everyone, "auto")
    with ExitStack() as opened:
        setup = set_up(config, everyone, None, opened)
        config = resolve(config, setup, engine)
        done = run_algorithm(setup, config, config.algorithm[0], engine)
    own = [setup.constants_seconds, done.records[-1]["seconds"]]
    constants, run = map(float, everyone.max(own))
    return [setup.x0.size, constants, run, done.status]


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("problems", nargs="*", metavar="PROBLEM", default=[])
    options = parser.parse_args()
    everyone, long = Collective(MPI.COMM_WORLD), []
    first = everyone.agent == 0

    def tell(line: str) -> None:
        if first:
            print(line, flush=True)

    tell("| problem | d | constants, s | run to 1e-6, s | ratio | |")
    tell("|---|---|---|---|---|---|")
    for name in options.problems or PROBLEMS:
        path = Path(os.environ.get("PMGT_DATA", "")) / PROBLEMS[name][0].get("path", "")
        if not everyone.from_first(path.exists()):
            tell(f"| {name} | | | | | no {path.name} in PMGT_DATA |")
            continue
        d, constants, run, status = measure(name, everyone)
        ratio = constants / run
        tell(f"| {name} | {d} | {constants:.3g} | {run:.3g} | {ratio:.2g} | {status} |")
        long += [name] if ratio > SHARE else []
    tell(f"longer than a tenth: {', '.join(long) or 'none'}")
    return 1 if long else 0


if __name__ == "__main__":
    sys.exit(main())
