"""Measure an earlier commit and this one in turns, and tell which ratios became worse.

Usage: python scripts/bench/before_after.py COMMIT [NAME...] [--turns T] [--repeats N]

NAMEs are those of scripts/bench.sh that have ratios: rounds, epochs, inner-steps and
startup. Both commits are measured by their own scripts, in work trees of git's, each
with an environment of its own; what is not committed is left out. The exit code is 1 if
a ratio of the compiled engine, or of start-up, is more than 5 % worse.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
NAMES = ("rounds", "epochs", "inner-steps", "startup")
CASE = ("ranks", "d", "rounds_of_a_mix", "b", "layout", "n")
"""What tells one result of a measurement from another."""
JUDGED = ("compiled", "first step")
WORSE = 1.05

Ratios = dict[str, float]


def ratios_of(book: dict[str, Any], names: list[str]) -> Ratios:
    """The ratios of a tree's figures, by measurement, case and contender."""
    found = {}
    for name in names:
        for result in book[name]["results"]:
            if result.get("M") == 0:  # earlier commits have none without messages
                continue
            case = ", ".join(f"{key} = {result[key]}" for key in CASE if key in result)
            for contender in ("python", *JUDGED):
                if contender in result["ratio"]:
                    key = f"{name}: {case}: {contender}"
                    found[key] = result["ratio"][contender]["median"]
    return found


def compare(before: list[Ratios], after: list[Ratios]) -> tuple[list[str], list[str]]:
    """Return the lines of a table, and the cases that became worse; a pair a turn."""
    lines = ["| measurement | before | after | after / before |", "|---|---|---|---|"]
    worse = []
    for case in before[0]:
        if case not in after[0]:
            continue
        pairs = [
            (one[case], other[case]) for one, other in zip(before, after, strict=True)
        ]
        old, new = (median(values) for values in zip(*pairs, strict=True))
        change = median(other / one for one, other in pairs)
        if change > WORSE and case.endswith(JUDGED):
            worse.append(f"{case}: {change:.2f} times as much as before")
        lines.append(f"| {case} | {old:.2f} | {new:.2f} | {change:.2f} |")
    return lines, worse


def measured(tree: Path, names: list[str], repeats: int) -> Ratios:
    """Let a tree measure itself."""
    command = ["bash", "scripts/bench.sh", *names, "--repeats", str(repeats)]
    subprocess.run(command, cwd=tree, check=True, stdout=sys.stderr)
    book = json.loads((tree / "docs" / "performance.json").read_text())
    return ratios_of(book, names)


def main() -> int:
    """Compare; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python scripts/bench/before_after.py",
        description=(__doc__ or "").strip(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("commit", metavar="COMMIT")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=15)
    options = parser.parse_args()
    names = options.names or list(NAMES)
    if unknown := set(names) - set(NAMES):
        parser.error(f"unknown: {', '.join(unknown)}; valid: {', '.join(NAMES)}")
    git = ["git", "-C", str(ROOT), "worktree"]
    before: list[Ratios] = []
    after: list[Ratios] = []
    with tempfile.TemporaryDirectory(prefix="pmgt-before-") as folder:
        trees = Path(folder) / "before", Path(folder) / "after"
        try:
            for tree, commit in zip(trees, (options.commit, "HEAD"), strict=True):
                add = [*git, "add", "-q", "--detach", tree, commit]
                subprocess.run(add, check=True)
            for _ in range(options.turns):
                for tree, ratios in zip(trees, (before, after), strict=True):
                    ratios.append(measured(tree, names, options.repeats))
        finally:
            for tree in trees:
                subprocess.run([*git, "remove", "--force", tree], check=False)
    lines, worse = compare(before, after)
    print("\n".join([*lines, "", *worse, f"{len(worse)} are more than 5 % worse"]))
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
