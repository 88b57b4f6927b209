"""The declared sweep: sweep.toml as values."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from methods import FULL, KATYUSHAX, SVRG
from trial_grids import Point

if TYPE_CHECKING:
    from pmgt_mpi.config.schema import Config

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
DECLARED = HERE / "sweep.toml"
TABLE = HERE / "sweep.csv"
CONFIGS = ROOT / "configs" / "paper"

AXES = {KATYUSHAX: 4, SVRG: 3} | dict.fromkeys(FULL, 1)


@dataclass(frozen=True)
class Case:
    """One problem of the sweep; a config of configs/paper has its name."""

    name: str
    data: dict[str, Any]
    ratio: float
    target: float
    cap: float
    full_cap: float
    every: int
    start: dict[str, Point]

    @property
    def path(self) -> Path:
        """Its config."""
        return CONFIGS / f"{self.name}.toml"


@dataclass(frozen=True)
class Sweep:
    """All of sweep.toml."""

    agents: int
    topology: str
    graph_seed: int
    methods: list[str]
    seeds: list[int]
    finalists: int
    moves: int
    weight: float
    cases: list[Case]

    def sections(self, case: Case) -> dict[str, Any]:
        """The sections of a config that say what is solved, and where."""
        return {
            "network": {
                "topology": self.topology,
                "weights": "laplacian",
                "seed": self.graph_seed,
            },
            "mixing": {"method": "chebyshev"},
            "data": case.data,
            "problem": {"kind": "shift-invert-pca", "ratio": case.ratio},
        }

    def config(self, case: Case) -> Config:
        """Config of a run of one of the problems."""
        from pmgt_mpi.config.read import check_config

        values = {**self.sections(case), "algorithm": [{"name": self.methods[0]}]}
        return check_config(values, DECLARED.name, str(CONFIGS))


def read_sweep(path: Path = DECLARED) -> Sweep:
    """Read the declared sweep."""
    values = tomllib.loads(path.read_text())
    data, problems = values.pop("data"), values.pop("problem")
    cases = []
    for name, problem in problems.items():
        starts = {method: tuple(p) for method, p in problem.pop("start").items()}
        for method in values["methods"]:
            if len(starts[method]) != AXES[method]:
                raise SystemExit(
                    f"{path}: [problem.{name}] start.{method} needs {AXES[method]} "
                    "numbers"
                )
        of_data = data[problem.pop("data")]
        cases.append(Case(name=name, data=of_data, start=starts, **problem))
    return Sweep(cases=cases, **values)
