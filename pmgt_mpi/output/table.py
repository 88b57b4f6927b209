"""The table at the end of a run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import inf
from typing import Any

from pmgt_mpi.terminal import printable

COLUMNS = (
    "algorithm",
    "status",
    "steps",
    "seconds",
    "gradients",
    "rounds",
    "messages",
    "rel. subopt.",
    "consensus",
)


LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "·": r"$\cdot$",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\char34{}",
    "-": "{}-",
}
"""What stands for a character that a backslash does not help."""


NEVER = "–"
"""In the place of a cost that was never paid, as the goal was not reached."""


def summary_table(summaries: list[dict[str, Any]]) -> str:
    """One line for each algorithm, the numbers aligned to the right.

    Gradients are component gradients per agent; messages those of all agents together.
    """
    rows = [COLUMNS] + [
        (
            printable(summary["algorithm"]),
            printable(summary["status"]),
            f"{summary['step']:,}",
            f"{summary['seconds']:.2f}",
            f"{summary['gradients']:,.0f}",
            f"{summary['rounds']:,}",
            f"{summary['messages']:,}",
            _scientific(summary["relative_suboptimality"]),
            _scientific(summary["consensus"]),
        )
        for summary in summaries
    ]
    return aligned(rows, words=2)


def aligned(rows: Sequence[Sequence[str]], words: int) -> str:
    """Lay out a table with its header: so many columns of words, then numbers."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = zip(row, widths, range(len(row)), strict=True)
        line = [w.ljust(size) if k < words else w.rjust(size) for w, size, k in cells]
        lines.append("  ".join(line).rstrip())
    rule = "  ".join("-" * width for width in widths)
    return "\n".join([lines[0], rule, *lines[1:]])


def _scientific(value: float | None) -> str:
    return "-" if value is None else f"{value:.1e}"


def short(value: float | None) -> str:
    """Write a number with three digits: 7.27M."""
    if value is None or value == inf:
        return NEVER
    value = float(f"{value:.3g}")
    for scale, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= scale:
            return f"{value / scale:g}{letter}"
    return f"{value:.3g}"


def markdown_text(text: str) -> str:
    """Take the meaning from the characters that Markdown would not print."""
    return re.sub(r"[\\`*_\[\]<>|&~$]", lambda m: "\\" + m[0], text)


def latex_text(text: str) -> str:
    """Take the meaning from the characters that LaTeX would not print."""
    return re.sub(r"[\\~^·<>|\"&%$#_{}]|(?<=-)-", _latex_sign, text)


def _latex_sign(match: re.Match[str]) -> str:
    return LATEX.get(match[0], "\\" + match[0])
