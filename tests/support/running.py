"""Whole runs of the command, on a small config."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tests.launcher import Result, mpirun

SMALL = """
[run]
name = "small"
seed = 3

[network]
topology = "ring"

[data]
source = "bernoulli"
rows = 600
columns = 8

[problem]
kind = "shift-invert-pca"
ratio = 2.0

[stop]
steps = 8

[cost]
round_in_gradients = 100

[[algorithm]]
name = "pmgt-katyushax"

[[algorithm]]
name = "pmgt-svrg"

[[algorithm]]
name = "pg-extra"

[[algorithm]]
name = "nids"
"""


SMALL_ALGORITHMS = ("pmgt-katyushax", "pmgt-svrg", "pg-extra", "nids")
"""Those of `SMALL`, in its order."""


def run_config(
    folder: Path,
    text: str = SMALL,
    *,
    ranks: int = 4,
    set: tuple[str, ...] = (),
    out: str = "out",
    more: tuple[str, ...] = (),
    **options: Any,
) -> Result:
    """Write a config into a folder and run it there."""
    (folder / "config.toml").write_text(text)
    args = ["-m", "pmgt_mpi.run", "--config", "config.toml", "--out", out, *more]
    for assignment in set:
        args += ["--set", assignment]
    env = {"PMGT_CACHE": str(folder / "cache"), **options.pop("env", {})}
    return mpirun(ranks, args, cwd=folder, env=env, **options)


@dataclass(frozen=True)
class Left:
    """What a run left in its folder."""

    path: Path

    @property
    def metrics(self) -> list[dict[str, Any]]:
        lines = (self.path / "metrics.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines]

    @property
    def summary(self) -> list[dict[str, Any]]:
        return json.loads((self.path / "summary.json").read_text())

    @property
    def meta(self) -> dict[str, Any]:
        return json.loads((self.path / "meta.json").read_text())

    @property
    def solution(self) -> dict[str, np.ndarray]:
        with np.load(self.path / "solution.npz", allow_pickle=False) as file:
            return dict(file)

    def table(self, name: str) -> list[dict[str, str]]:
        with (self.path / name).open(newline="") as file:
            return list(csv.DictReader(file))
