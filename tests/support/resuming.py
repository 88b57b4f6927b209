"""Runs that are ended in the middle, and what must not depend on it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.launcher import Job, Result, mpirun, start_mpirun
from tests.support.running import SMALL, Left

LONG = SMALL.replace(
    "steps = 8",
    """steps = 150
[evaluate]
every = 25
[checkpoint]
steps = 20
[mixing]
rounds = 3""",
)
"""Some seconds of four ranks on two cores, with 28 checkpoints."""

CLOCKS = {"seconds", "compute_seconds", "comm_seconds", "evaluation_seconds"}


def arguments(*more: str) -> list[str]:
    return ["-m", "pmgt_mpi.run", *more]


def environment(folder: Path) -> dict[str, str]:
    return {"PMGT_CACHE": str(folder / "cache")}


def begin(
    folder: Path, *more: str, text: str = LONG, ranks: int = 4, **options: Any
) -> Job:
    """Start a run into ``out`` and do not wait."""
    (folder / "config.toml").write_text(text)
    args = arguments("--config", "config.toml", "--out", "out", *more)
    return start_mpirun(ranks, args, cwd=folder, env=environment(folder), **options)


def resume(folder: Path, *more: str, ranks: int = 4, **options: Any) -> Result:
    """Resume the run in ``out``."""
    args = arguments("--resume", "out", *more)
    return mpirun(ranks, args, cwd=folder, env=environment(folder), **options)


def manifests(folder: Path) -> list[Path]:
    return sorted((folder / "out" / "checkpoint").glob("[0-9]*/manifest.json"))


def wait_for(job: Job, happened: Callable[[], Any], limit: float = 30.0) -> None:
    """Wait until something has happened, or fail with what the job has said."""
    end = time.monotonic() + limit
    while not happened():
        if not job.running() or time.monotonic() > end:
            raise AssertionError(f"it did not happen\n{job.stdout}\n{job.stderr}")
        time.sleep(0.005)


def checkpoint_number(folder: Path) -> int:
    """Number of the newest complete checkpoint; 0 if there is none."""
    return max((int(path.parent.name) for path in manifests(folder)), default=0)


def ranks_of(job: Job) -> dict[int, int]:
    """Process id of every rank.

    What a rank has started, the C compiler for one, has the same environment, but a
    rank for its parent.
    """
    ranks, parents = {}, {}
    for pid in job.processes():
        folder = Path("/proc") / str(pid)
        try:
            variables = (folder / "environ").read_bytes()
            status = (folder / "stat").read_text()
        except OSError:
            continue
        if rank := re.search(rb"(?:^|\0)(?:OMPI_COMM_WORLD|PMI)_RANK=(\d+)", variables):
            ranks[pid] = int(rank[1])
            parents[pid] = int(status.rpartition(")")[2].split()[1])
    return {rank: pid for pid, rank in ranks.items() if parents[pid] not in ranks}


def untimed(row: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in row.items() if k not in CLOCKS | {"peak_memory_bytes"}}


def essence(path: Path) -> dict[str, Any]:
    """All that a run leaves, clocks aside, in a form that compares bit for bit."""
    left = Left(path)
    return {
        "metrics": [untimed(record) for record in left.metrics],
        "summary": [untimed(one) for one in left.summary],
        "ranks": [untimed(row) for row in left.table("ranks.csv")],
        "edges": left.table("edges.csv"),
        "solution": {
            name: (array.dtype.str, array.shape, array.tobytes())
            for name, array in left.solution.items()
        },
    }


def contents(path: Path) -> dict[str, bytes | None]:
    """Every file and folder below a path, byte for byte."""
    return {
        str(p.relative_to(path)): p.read_bytes() if p.is_file() else None
        for p in sorted(path.rglob("*"))
    }


def assert_same(one: Path, other: Path) -> None:
    """Fail with the first thing in which two runs differ."""
    first, second = essence(one), essence(other)
    for name, value in first.items():
        assert value == second[name], f"{name}: {_first_other(value, second[name])}"


def _first_other(one: Any, other: Any) -> str:
    """The first items in which two lists or dicts differ, or the two themselves."""
    if isinstance(one, dict) and isinstance(other, dict):
        one, other = list(one.items()), list(other.items())
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        pairs = zip(one, other, strict=True)
        one, other = next(pair for pair in pairs if pair[0] != pair[1])
    return f"{one!r:.2000} and {other!r:.2000}"
