"""A study: the runs of its draws in groups, and the tables that tell of them."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from pmgt_mpi.output.series import Result
from pmgt_mpi.output.statistics import (
    CONFIDENCE,
    LEAST_DRAWS,
    Ratio,
    Spread,
    ratio,
    spread,
)
from pmgt_mpi.output.table import aligned, latex_text, markdown_text
from pmgt_mpi.terminal import printable

COSTS = ("gradients", "rounds", "seconds")
"""What the tables tell of a group; files with all digits tell the bytes too."""

ALL_COSTS = ("gradients", "gradients_paper", "rounds", "messages", "bytes", "seconds")

GOALS = ("relative_suboptimality", "epsilon", "gradient_mapping")
"""Keys of [stop] that a run can reach."""

NEVER = "–"


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


def groups_of(results: Sequence[Result], asked: dict[str, Any]) -> list[Group]:
    """Put results in groups, in the order of the grid and of the algorithms."""
    goal = any(key in asked["config"]["stop"] for key in GOALS)
    found: dict[tuple[str, str], Group] = {}
    for run in results:
        key = (repr(run["cell"]), run["algorithm"])
        group = Group(run["algorithm"], run["cell"], [], goal)
        found.setdefault(key, group).runs.append(run)
    labels = [section["label"] for section in asked["config"]["algorithm"]]
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


def short(value: float | None) -> str:
    """Write a number with three digits: 7.27M."""
    if value is None or value == inf:
        return NEVER
    value = float(f"{value:.3g}")
    for scale, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= scale:
            return f"{value / scale:g}{letter}"
    return f"{value:.3g}"


def told(one: Spread) -> str:
    """Write out a median with its quartiles: 7.27M [7.1M, 7.3M]."""
    if one.low == one.high:
        return short(one.median)
    return f"{short(one.median)} [{short(one.low)}, {short(one.high)}]"


def table(groups: Sequence[Group]) -> list[list[str]]:
    """Header and lines of the table: median and quartiles of every group."""
    keys = list(dict.fromkeys(key for group in groups for key in group.cell))
    costs = [
        name
        for name in COSTS
        if any(group.cost(run, name) > 0 for group in groups for run in group.runs)
    ]
    reached = "reached" if any(group.goal for group in groups) else "runs"
    rows = [["algorithm", *keys, reached, *costs, "rel. subopt."]]
    for group in groups:
        final = group.final()
        rows.append(
            [
                printable(group.label),
                *(str(group.cell.get(key, "")) for key in keys),
                group.reached,
                *(told(group.spread(name)) for name in costs),
                NEVER if final is None else f"{final:.1e}",
            ]
        )
    return rows


def ratio_table(compared: Sequence[Compared]) -> list[list[str]]:
    """Header and lines of the ratios: geometric mean, interval and verdict."""
    names = list(dict.fromkeys(name for one in compared for name in one.ratios))
    keys = list(dict.fromkeys(key for one in compared for key in one.cell))
    rows = [["algorithm", *keys, *names]]
    for one in compared:
        cells = [str(one.cell.get(key, "")) for key in keys]
        cells += [_ratio_told(one.ratios.get(name)) for name in names]
        rows.append([printable(one.label), *cells])
    return rows


def _ratio_told(one: Ratio | None) -> str:
    if one is None or one.mean is None:
        return NEVER
    if one.interval is None:
        missing = f" ({one.missing} draws missing)" if one.missing else ""
        return f"{one.mean:.3g}{missing}"
    low, high = one.interval
    return f"{one.mean:.3g} [{low:.3g}, {high:.3g}] {one.verdict}"


def ratio_title(compared: Sequence[Compared]) -> str:
    """Say what the ratios are, and whether they are enough for a verdict."""
    ratios = [one for each in compared for one in each.ratios.values()]
    draws = max(one.draws + one.missing for one in ratios)
    title = (
        f"costs as multiples of those of {printable(compared[0].first)}, paired by "
        "draw: geometric mean"
    )
    if draws < LEAST_DRAWS:
        some = f"{draws} independent draw{'s' if draws > 1 else ''}"
        return f"{title}; no verdict from {some}, as {LEAST_DRAWS} are needed"
    return f"{title} [{CONFIDENCE:.0%} interval over {draws} draws] and verdict"


def as_text(groups: Sequence[Group]) -> str:
    """Write the tables for the terminal: medians and quartiles, then the ratios."""
    rows = table(groups)
    words = rows[0].index("rel. subopt.") - sum(name in rows[0] for name in COSTS)
    parts = [f"median [quartiles]\n{aligned(rows, words)}"]
    compared = list(comparisons(groups))
    if compared and compared[0].ratios:
        rows = ratio_table(compared)
        parts.append(f"{ratio_title(compared)}\n{aligned(rows, len(rows[0]))}")
    return "\n\n".join(parts) + "\n"


def as_csv(groups: Sequence[Group]) -> str:
    """Write every group with all digits; what was never reached is empty."""
    keys = list(dict.fromkeys(key for group in groups for key in group.cell))
    quartiles = ("low", "median", "high")
    names = [f"{name}_{part}" for name in ALL_COSTS for part in quartiles]
    rows: list[list[Any]] = [["algorithm", *keys, "runs", "converged", *names]]
    for group in groups:
        spreads = [value for name in ALL_COSTS for value in group.spread(name)]
        statuses = [run["status"] for run in group.runs]
        cells = [group.cell.get(key, "") for key in keys]
        counts = [len(statuses), statuses.count("converged")]
        costs = ["" if value == inf else value for value in spreads]
        rows.append([printable(group.label), *cells, *counts, *costs])
    return _csv(rows)


def runs_csv(groups: Sequence[Group]) -> str:
    """Write every run with all digits."""
    keys = list(dict.fromkeys(key for group in groups for key in group.cell))
    ends = ("step", *ALL_COSTS, "relative_suboptimality", "objective", "consensus")
    header = ["algorithm", *keys, "draw", "stream", "status", *ends]
    rows: list[list[Any]] = [header]
    for group in groups:
        for run in group.runs:
            end = run.get("end", {})
            stream = "" if run["stream"] is None else run["stream"]
            rows.append(
                [
                    printable(group.label),
                    *(group.cell.get(key, "") for key in keys),
                    run["draw"],
                    stream,
                    run["status"],
                    *(end.get(name, "") for name in ends),
                ]
            )
    return _csv(rows)


def _csv(rows: list[list[Any]]) -> str:
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows(rows)
    return file.getvalue()


def as_markdown(groups: Sequence[Group]) -> str:
    """Write a pipe table for each."""
    tables = [table(groups)]
    if compared := list(comparisons(groups)):
        tables.append(ratio_table(compared))
    parts = []
    for rows in tables:
        lines = [[markdown_text(word) for word in row] for row in rows]
        lines.insert(1, ["---"] * len(rows[0]))
        parts.append("".join(f"| {' | '.join(line)} |\n" for line in lines))
    return "\n".join(parts)


def as_latex(groups: Sequence[Group]) -> str:
    r"""Write tabulars for the package booktabs, which gives \toprule and \midrule."""
    tables = [table(groups)]
    if compared := list(comparisons(groups)):
        tables.append(ratio_table(compared))
    parts = [r"% \usepackage{booktabs}"]
    for rows in tables:
        header, *lines = [[_latex(word) for word in row] for row in rows]
        parts += [
            rf"\begin{{tabular}}{{l{'r' * (len(header) - 1)}}}",
            r"\toprule",
            " & ".join(header) + r" \\",
            r"\midrule",
            *(" & ".join(line) + r" \\" for line in lines),
            r"\bottomrule",
            r"\end{tabular}",
        ]
    return "\n".join([*parts, ""])


def _latex(word: str) -> str:
    return latex_text(word).replace(NEVER, "--")


FORMATS: dict[str, Callable[[Sequence[Group]], str]] = {
    "text": as_text,
    "csv": as_csv,
    "latex": as_latex,
    "markdown": as_markdown,
}
