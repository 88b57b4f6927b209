"""(4) to (6): start-up, memory and time to a solution, of whole runs of the command."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from ratios import spread

from tests.launcher import start_mpirun
from tests.support.running import Left

HERE = Path(__file__).parent

CONFIG = """
[run]
name = "bench"

[data]
source = "bernoulli"
rows = {rows}
columns = {columns}
layout = "{layout}"

[problem]
kind = "shift-invert-pca"

[stop]
steps = {steps}
{target}
[evaluate]
reference = {reference}

[cost]
round_in_gradients = 100

[[algorithm]]
name = "pmgt-katyushax"
"""


class Runs:
    """Starts runs in a folder of their own, one after another."""

    def __init__(self, folder: Path) -> None:
        self.folder = Path(tempfile.mkdtemp(dir=folder))
        self.number = 0

    def new(self) -> Path:
        """Make the folder of the next run."""
        self.number += 1
        path = self.folder / f"run-{self.number}"
        path.mkdir()
        return path

    def command(self, engine: str = "auto", **values: Any) -> tuple[Path, list[Any]]:
        """Write a config; return its folder and the arguments that run it."""
        path = self.new()
        text = {"target": "", "layout": "auto", "reference": "false", **values}
        (path / "config.toml").write_text(CONFIG.format(**text))
        arguments = ["-m", "pmgt_mpi.run", "--config", path / "config.toml"]
        return path, [
            *arguments, "--out", path / "out", "--set", f"run.engine={engine}",
        ]  # fmt: skip

    def bare(self, *modules: Path) -> tuple[Path, list[Any]]:
        """Return the file that a run of the bare program writes, and its arguments."""
        done = self.new() / "done"
        return done, [HERE / "bare.py", done, *modules]


def until(ranks: int, arguments: list[Any], done: Callable[[], bool]) -> float:
    """Seconds from the start of mpirun to a sign of life; then the job may end."""
    start = time.perf_counter()
    with start_mpirun(ranks, arguments) as job:
        while not done():
            if not job.running() and not done():
                raise RuntimeError(str(job.wait(60)))
            time.sleep(0.002)
        seconds = time.perf_counter() - start
        job.wait(120).expect(0)
    return seconds


START = {"rows": 960, "columns": 10, "steps": 1, "reference": "true"}
"""The run whose first step is waited for."""


def first_step(runs: Runs, ranks: int) -> float:
    """Seconds to the record of the first step."""
    path, arguments = runs.command(**START)
    metrics = path / "out" / "metrics.jsonl"

    def done() -> bool:
        return metrics.exists() and metrics.read_text().count("\n") >= 2

    return until(ranks, arguments, done)


def bare(runs: Runs, ranks: int, *modules: Path) -> float:
    """Seconds to the end of the bare program's barrier."""
    done, arguments = runs.bare(*modules)
    return until(ranks, arguments, done.exists)


def imports(runs: Runs) -> dict[str, Path]:
    """Write down what a run imports, for `bare`: what every rank does, and all."""
    path, (_, _, *arguments) = runs.command(**START)
    with start_mpirun(2, [HERE / "imports.py", path, *arguments]) as job:
        job.wait(120).expect(0)
    first, other = (json.loads((path / f"rank-{r}.json").read_text()) for r in (0, 1))
    lists = {"imports": (other, other), "imports of agent 0": (first, other)}
    files = {name: path / f"{name}.json" for name in lists}
    for name, both in lists.items():
        files[name].write_text(json.dumps(both))
    return files


def startup(runs: Runs, repeats: int) -> list[dict[str, Any]]:
    """(4) Start-up to the first step against bare mpi4py and numpy, and its parts."""
    results = []
    contenders: dict[str, Callable[[int], float]] = {"bare": partial(bare, runs)}
    for name, file in imports(runs).items():
        contenders[name] = lambda ranks, file=file: bare(runs, ranks, file)
    contenders["first step"] = partial(first_step, runs)
    for ranks in (2, 8, 16):
        seconds: dict[str, list[float]] = {name: [] for name in contenders}
        for repeat in range(repeats + 1):
            took = {name: run(ranks) for name, run in contenders.items()}
            if repeat:  # the first one compiles and fills caches
                for name, value in took.items():
                    seconds[name].append(value)
        pairs = {
            name: [b / a for a, b in zip(seconds["bare"], values, strict=True)]
            for name, values in seconds.items()
        }
        results.append(
            {
                "ranks": ranks,
                "seconds": {name: spread(values) for name, values in seconds.items()},
                "ratio": {name: spread(values) for name, values in pairs.items()},
            }
        )
    return results


def memory(runs: Runs) -> list[dict[str, Any]]:
    """(5) Peak memory of a rank against its shard and the bare program."""
    ranks, rows, columns = 2, 200_000, 50
    done, arguments = runs.bare()
    until(ranks, arguments, done.exists)
    base = int(done.read_text())
    results = []
    for layout, entry in (("dense", 8), ("sparse", 12)):
        path, arguments = runs.command(
            rows=rows, columns=columns, steps=2, layout=layout
        )
        with start_mpirun(ranks, arguments) as job:
            job.wait(120).expect(0)
        told = Left(path / "out").table("ranks.csv")
        results.append(
            {
                "layout": layout,
                "shard": rows // ranks * columns * entry,
                "bare": base,
                "peak": max(int(row["peak_memory_bytes"]) for row in told),
            }
        )
    return results


def scaling(runs: Runs, repeats: int) -> list[dict[str, Any]]:
    """(6) Seconds to 1e-6 of one fixed problem, as the agents grow in number."""
    results = []
    for ranks in (1, 2, 4, 8, 16):
        seconds: dict[str, list[float]] = {"python": [], "compiled": []}
        told: dict[str, Any] = {}
        for _ in range(repeats):
            for engine, values in seconds.items():
                path, arguments = runs.command(
                    engine if engine == "python" else "auto",
                    rows=60_000, columns=50, steps=500, reference="true",
                    target="relative_suboptimality = 1e-6\n",
                )  # fmt: skip
                with start_mpirun(ranks, arguments) as job:
                    job.wait(120).expect(0)
                told = Left(path / "out").summary[0]
                if told["engine"] == engine:
                    values.append(told["seconds"])
        results.append(
            {
                "ranks": ranks,
                "seconds": {name: spread(s) for name, s in seconds.items() if s},
                **{key: told[key] for key in ("step", "gradients", "rounds", "status")},
            }
        )
    return results
