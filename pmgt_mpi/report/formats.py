"""The table of costs alone, as CSV, LaTeX or Markdown."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence

from pmgt_mpi.output.runs import COSTS
from pmgt_mpi.output.table import latex_text, markdown_text
from pmgt_mpi.report.targets import Reached, best, target_name
from pmgt_mpi.terminal import printable

HEADER = ("target", "algorithm", "status", "steps", *COSTS)

NOT_REACHED = "–"


def as_csv(rows: Sequence[Reached]) -> str:
    """Every digit of metrics.jsonl; what was not reached is empty."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(("target", "run", *HEADER[1:]))
    for row in rows:
        run = row.curve.run
        costs = [row.cost(name) for name in ("step", *COSTS)]
        names = (str(run.path) if run else "", row.curve.label, row.curve.status)
        writer.writerow([target_name(row.target), *map(printable, names), *costs])
    return file.getvalue()


def as_markdown(rows: Sequence[Reached]) -> str:
    """A pipe table; the least of each target and cost is bold."""
    table = _rounded(rows, lambda word: f"**{word}**", target_name, markdown_text)
    widths = [max(map(len, column)) for column in zip(HEADER, *table, strict=True)]
    rule = [
        "-" * w if k in (1, 2) else "-" * (w - 1) + ":" for k, w in enumerate(widths)
    ]
    lines = [
        [
            word.ljust(width) if k in (1, 2) else word.rjust(width)
            for k, (word, width) in enumerate(zip(line, widths, strict=True))
        ]
        for line in (HEADER, *table)
    ]
    return "".join(f"| {' | '.join(x)} |\n" for x in (lines[0], rule, *lines[1:]))


def as_latex(rows: Sequence[Reached]) -> str:
    r"""A tabular for the package booktabs, which gives \toprule and \midrule."""
    table = _rounded(rows, lambda word: rf"\textbf{{{word}}}", _power, latex_text)
    lines = [
        r"% \usepackage{booktabs}",
        rf"\begin{{tabular}}{{rll{'r' * (len(HEADER) - 3)}}}",
        r"\toprule",
        " & ".join(HEADER) + r" \\",
    ]
    target = None
    for row, words in zip(rows, table, strict=True):
        if row.target != target:
            lines.append(r"\midrule")
            target = row.target
        lines.append(" & ".join(words) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


FORMATS: dict[str, Callable[[Sequence[Reached]], str]] = {
    "csv": as_csv,
    "latex": as_latex,
    "markdown": as_markdown,
}


def number(value: float | None, cost: str) -> str:
    """A number to be read: counts in full, seconds to the millisecond."""
    if value is None:
        return NOT_REACHED
    if cost != "seconds":
        return f"{value:,.0f}"
    return f"{value:,.3f}"


def _rounded(
    rows: Sequence[Reached],
    bold: Callable[[str], str],
    target: Callable[[float], str],
    text: Callable[[str], str],
) -> list[list[str]]:
    """The words of each row."""
    table = []
    for row in rows:
        words = [target(row.target), text(row.curve.name), text(row.curve.status)]
        words.append(number(row.cost("step"), "step"))
        for name in COSTS:
            word = number(row.cost(name), name)
            least = best(rows, row.target, name)
            is_best = least is not None and row.cost(name) == least
            words.append(bold(word) if is_best else word)
        table.append(words)
    return table


def _power(target: float) -> str:
    return f"$10^{{{target_name(target).partition('e')[2]}}}$"
