"""A study: the runs of its draws in groups, and ratios between these."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

from pmgt_mpi.errors import UserError
from pmgt_mpi.output.reading import read_json, read_text
from pmgt_mpi.output.series import (
    Result,
    SeriesFolder,
    refuse_schema,
    results_of,
    whole_lines,
)
from pmgt_mpi.output.statistics import Ratio, Spread, ratio, spread

COSTS = ("gradients", "rounds", "seconds")
"""What the tables tell of a group; files with all digits tell the bytes too."""

ALL_COSTS = ("gradients", "gradients_paper", "rounds", "messages", "bytes", "seconds")

GOALS = ("relative_suboptimality", "epsilon", "gradient_mapping")
"""Keys of [stop] that a run can reach."""


@dataclass(frozen=True)
class Group:
    """The runs of one algorithm with the same values of the grid, one for each draw.

    Attributes
    ----------
    label, cell
        The algorithm, and the value of each key of the grid.
    runs
        Their results.
    goal
        Whether the config has a goal; then a run that has not reached it has no cost.
    """

    label: str
    cell: dict[str, Any]
    runs: list[Result]
    goal: bool

    def cost(self, run: Result, name: str) -> float:
        """What a run paid for the goal; infinity if it did not reach it."""
        if "end" not in run or (self.goal and run["status"] != "converged"):
            return inf
        return float(run["end"][name])

    def spread(self, name: str) -> Spread:
        """Median and quartiles of a cost."""
        return spread([self.cost(run, name) for run in self.runs])

    def final(self) -> float | None:
        """Median of the relative suboptimality at the end, where it is known."""
        values = [
            run["end"]["relative_suboptimality"] for run in self.runs if "end" in run
        ]
        if not values or None in values:
            return None
        return spread(values).median

    @property
    def reached(self) -> str:
        """How many runs have reached the goal, or ended without one."""
        status = "converged" if self.goal else "budget"
        count = sum(run["status"] == status for run in self.runs)
        others = [run["status"] for run in self.runs]
        told = [f"{count} of {len(self.runs)}"]
        told += [
            f"{others.count(bad)} {bad}"
            for bad in ("diverged", "refused", "failed")
            if bad in others
        ]
        return ", ".join(told)


@dataclass(frozen=True)
class Compared:
    """An algorithm held against the first of its cell: ratios of costs."""

    label: str
    first: str
    cell: dict[str, Any]
    ratios: dict[str, Ratio]


@dataclass(frozen=True)
class Study:
    """What the folder of a study holds.

    Attributes
    ----------
    head
        Of study.json: what was asked for, versions and machine.
    config_text
        asked.toml as it stands.
    results
        Of all runs that have ended or failed.
    """

    path: Path
    head: dict[str, Any]
    config_text: str
    results: list[Result]

    @property
    def name(self) -> str:
        """As the config says."""
        return str(self.head["asked"]["config"]["run"].get("name", self.path.name))

    @property
    def agents(self) -> int:
        """Number of agents, m."""
        return int(self.head["asked"]["ranks"])

    @property
    def groups(self) -> list[Group]:
        """Its runs in groups."""
        return groups_of(self.results, self.head["asked"])


def is_study(path: Path) -> bool:
    """Whether a folder is that of a study."""
    return (path / "study.json").is_file()


def read_study(path: Path) -> Study:
    """Read the folder of a study; say what is wrong with it in a `UserError`."""
    from pmgt_mpi.output.shapes import RESULTS, STUDY, check_shape

    head = read_json(path, "study.json")
    check_shape(path / "study.json", head, STUDY)
    refuse_schema(path / "study.json", head)
    records, _ = whole_lines(path)
    results = list(results_of(path / SeriesFolder.LINES, records).values())
    if not results:
        raise UserError(f"{path}: no run of the study has ended yet")
    check_shape(path / SeriesFolder.LINES, results, RESULTS)
    return Study(path, head, read_text(path, "asked.toml"), results)


def groups_of(results: Sequence[Result], asked: dict[str, Any]) -> list[Group]:
    """Put results in groups, in the order of the grid and of the algorithms."""
    goal = any(key in asked["config"]["stop"] for key in GOALS)
    found: dict[tuple[str, str], Group] = {}
    for run in results:
        key = (repr(run["cell"]), run["algorithm"])
        group = Group(run["algorithm"], run["cell"], [], goal)
        found.setdefault(key, group).runs.append(run)
    labels = [section["label"] for section in asked["config"]["algorithm"]]
    labels += [label for _, label in found if label not in labels]
    cells = list(dict.fromkeys(cell for cell, _ in found))
    order = sorted(found, key=lambda key: (cells.index(key[0]), labels.index(key[1])))
    return [found[key] for key in order]


def comparisons(groups: Sequence[Group]) -> Iterator[Compared]:
    """Hold every algorithm against the first one with the same values of the grid."""
    for group in groups:
        first = next(one for one in groups if one.cell == group.cell)
        if first is not group:
            ratios = {
                name: ratio(_paired(group, first, name))
                for name in COSTS
                if any(group.cost(run, name) > 0 for run in group.runs)
            }
            yield Compared(group.label, first.label, group.cell, ratios)


def _paired(one: Group, other: Group, name: str) -> list[list[tuple[float, float]]]:
    """Costs of both in each independent draw: its rows, its network, its chance.

    Draws whose rows, network and seed are all the same are one draw.
    """
    pairs: dict[tuple[Any, ...], list[tuple[float, float]]] = {}
    others = {(run["draw"], run["stream"]): run for run in other.runs}
    for run in one.runs:
        beside = others.get((run["draw"], run["stream"]))
        if beside is None:
            continue
        setup = run.get("setup", run["draw"])
        draw = (setup, None) if run["stream"] is not None else (setup, run.get("seed"))
        costs = one.cost(run, name), other.cost(beside, name)
        pairs.setdefault(draw, []).append(costs)
    return list(pairs.values())
