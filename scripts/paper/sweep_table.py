"""The sweep's result: one row for each problem and method, as a CSV file."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from declared import TABLE, Case
from sweep_search import Found

COLUMNS = (
    "problem", "method", "step_size", "batch_size", "mix_rounds", "momentum",
    "trials", "inside", "steps_tried", "batches_tried", "rounds_tried", "status",
    "target", "relative_suboptimality", "cost", "gradients", "gradients_paper",
    "rounds", "fewest_gradients", "fewest_rounds",
)  # fmt: skip

Row = dict[str, str]


def row_of(case: Case, found: Found) -> Row:
    """One row; costs are those of the best trial's worst run, gradients in n."""
    record, values = found.record, found.record["values"]
    tried = [seen["values"] for seen in found.seen.values()]
    every = [*found.seen.values(), *found.finals.values()]
    done = [one for one in every if one["status"] == "converged"]
    return {
        "problem": case.name,
        "method": found.method,
        "step_size": f"{values['step_size']:.4g}",
        "batch_size": f"{values.get('batch_size', '')}",
        "mix_rounds": f"{values.get('mix_rounds', '')}",
        "momentum": f"{values['momentum']:.4g}" if "momentum" in values else "",
        "trials": f"{len(tried)}",
        "inside": "yes" if found.within else "no",
        "steps_tried": _range([one["step_size"] for one in tried]),
        "batches_tried": _range([one.get("batch_size") for one in tried]),
        "rounds_tried": _range([one.get("mix_rounds") for one in tried]),
        "status": "diverges" if found.diverges else record["status"],
        "target": f"{case.target:g}",
        "relative_suboptimality": (
            "" if record["relative"] is None else f"{record['relative']:.3g}"
        ),
        "cost": f"{record['cost']:.1f}",
        "gradients": f"{record['gradients']:.1f}",
        "gradients_paper": f"{record['gradients_paper']:.1f}",
        "rounds": f"{record['rounds']}",
        "fewest_gradients": _least([one["gradients"] for one in done], ".1f"),
        "fewest_rounds": _least([one["rounds"] for one in done], "d"),
    }


def _least(costs: list[float], form: str) -> str:
    """The least cost of any trial that converged, or nothing."""
    return f"{min(costs):{form}}" if costs else ""


def _range(values: list[float | None]) -> str:
    """The ends of what was tried."""
    given = [value for value in values if value is not None]
    return f"{min(given):.4g}..{max(given):.4g}" if given else ""


def table_text(rows: list[Row]) -> str:
    """The file's content."""
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def read_table(path: Path = TABLE) -> list[Row]:
    """Read the file; no rows if it is not there."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def merged(old: list[Row], new: list[Row], order: list[tuple[str, str]]) -> list[Row]:
    """Put new rows in the place of old ones; those that were not searched stay."""
    rows = {(row["problem"], row["method"]): row for row in [*old, *new]}
    return [rows[key] for key in order if key in rows]
