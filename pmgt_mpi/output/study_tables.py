"""The tables of a study: medians, quartiles and ratios, in four formats."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from math import inf
from typing import Any

from pmgt_mpi.output.statistics import CONFIDENCE, LEAST_DRAWS, Ratio, Spread
from pmgt_mpi.output.study import ALL_COSTS, COSTS, Compared, Group, comparisons
from pmgt_mpi.output.table import (
    NEVER,
    aligned,
    latex_text,
    markdown_text,
    short,
)
from pmgt_mpi.terminal import printable


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
    return _csv(runs_table(groups))


def runs_table(groups: Sequence[Group]) -> list[list[Any]]:
    """Header and a line for every run."""
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
    return rows


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
