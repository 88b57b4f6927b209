"""The table at the end of a run."""

from __future__ import annotations

import re
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
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        words = [row[0].ljust(widths[0]), row[1].ljust(widths[1])]
        words += [word.rjust(w) for word, w in zip(row[2:], widths[2:], strict=True)]
        lines.append("  ".join(words))
    rule = "  ".join("-" * width for width in widths)
    return "\n".join([lines[0], rule, *lines[1:]])


def _scientific(value: float | None) -> str:
    return "-" if value is None else f"{value:.1e}"


def markdown_text(text: str) -> str:
    """Take the meaning from the characters that Markdown would not print."""
    return re.sub(r"[\\`*_\[\]<>|&~$]", lambda m: "\\" + m[0], text)
