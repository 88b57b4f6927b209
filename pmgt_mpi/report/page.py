"""The page: one HTML file that asks for nothing from outside."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from pmgt_mpi.output.reading import leaves
from pmgt_mpi.output.runs import Run
from pmgt_mpi.pictures.curves import Curve, run_names
from pmgt_mpi.pictures.panel import COST_NAMES, MEASURE_NAMES
from pmgt_mpi.pictures.pictures import Picture, page_colour
from pmgt_mpi.replacing import replacing
from pmgt_mpi.report.sections import (
    costs_section,
    curves_section,
    ends_section,
    facts_table,
    graph_section,
    times_section,
)
from pmgt_mpi.report.targets import reached

CONTENTS = {
    "convergence": "Convergence",
    "costs": "Costs",
    "ends": "Algorithms",
    "graph": "Graph",
    "times": "Time of each rank",
    "circumstances": "Circumstances",
    "config": "Config",
}


def write_page(
    path: Path,
    runs: Sequence[Run],
    curves: Sequence[Curve],
    pictures: Sequence[Picture],
    refresh: float | None,
) -> None:
    """Write the page.

    Parameters
    ----------
    refresh
        Seconds after which a browser is to load it again; None is never.
    """
    names = run_names(runs)
    title = " and ".join(names.values()) if len(runs) < 3 else f"{len(runs)} runs"
    body = [
        _header(title, runs, names),
        curves_section(curves, pictures),
        costs_section(reached(curves)),
        ends_section(curves),
        graph_section(runs, pictures),
        times_section(curves, pictures),
        circumstances_section([run.meta for run in runs], list(names.values())),
        _configs(runs, names),
    ]
    fill_page(path, title, "\n".join(body), page_data(curves), refresh)


def fill_page(
    path: Path, title: str, body: str, data: Any, refresh: float | None = None
) -> None:
    """Write a page with its data; a browser loads it again after `refresh` seconds."""
    template = Template(files(__package__).joinpath("page.html").read_text("utf-8"))
    seconds = "" if refresh is None else f"{max(1, round(refresh))}"
    tag = seconds and f'<meta http-equiv="refresh" content="{seconds}">'
    text = template.substitute(
        title=escape(f"{title} – pmgt_mpi report"),
        refresh=tag,
        body=body,
        data=script_json(data),
    )
    with replacing(path) as temporary:
        # Half a sign, of a name that was no text, is all that UTF-8 lacks.
        temporary.write_text(text, encoding="utf-8", errors="replace")


def page_data(curves: Sequence[Curve]) -> dict[str, Any]:
    """Every number of metrics.jsonl, by curve and column."""
    return {
        "names": {**COST_NAMES, **MEASURE_NAMES},
        "curves": [
            {
                "name": curve.name,
                "algorithm": curve.label,
                "run": str(curve.run.path) if curve.run else None,
                "colour": page_colour(curve.colour),
                "status": curve.status,
                "columns": {
                    key: [record.get(key) for record in curve.records]
                    for key in dict.fromkeys(k for r in curve.records for k in r)
                    if key != "algorithm"
                },
            }
            for curve in curves
        ],
    }


def script_json(data: Any) -> str:
    """JSON that stands in a script element, which ends at the first ``</script``."""
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")


def _header(title: str, runs: Sequence[Run], names: dict[object, str]) -> str:
    lines = []
    for run in runs:
        state = "" if run.ended else "still running; "
        if run.killed:
            state = "ended without a summary (killed?); "
        coming = run.to_come()
        if coming and not run.ended:
            state += f"still to come: {', '.join(coming)}; "
        name = f"{names[run.path]}: " if len(runs) > 1 else ""
        agents = f"{run.agents} agent{'s' if run.agents != 1 else ''}"
        text = escape(f"{agents}, started {run.meta['started']}, {run.path}")
        lines.append(
            f'<p class="soft">{escape(name)}<span class="warn">{escape(state)}</span>'
            f"{text}</p>"
        )
    links = "".join(f'<a href="#{key}">{text}</a>' for key, text in CONTENTS.items())
    return f"<h1>{escape(title)}</h1>{''.join(lines)}<nav>{links}</nav>"


def circumstances_section(
    metas: Sequence[dict[str, Any]], names: Sequence[str] = ()
) -> str:
    """Versions, hosts, data and constants of each run."""
    parts = ['<section id="circumstances"><h2>Circumstances</h2>']
    for number, meta in enumerate(metas):
        packages = meta.get("packages") or {}
        facts = {
            "pmgt_mpi": meta.get("pmgt_mpi"),
            "commit": meta.get("commit"),
            "Python": meta.get("python"),
            "packages": _pairs({k: v for k, v in packages.items() if v}, " "),
            "MPI": meta.get("mpi"),
            "machine": meta.get("machine"),
            "hosts": ", ".join(dict.fromkeys(meta.get("hosts") or [])),
            "started": meta["started"],
            "command": " ".join(map(str, meta.get("command") or [])),
            "environment": _pairs(meta.get("environment") or {}, "="),
            "seed": meta.get("seed"),
            "set-up, seconds": meta.get("setup_seconds"),
            "rows of each agent": _rows(meta.get("rows") or []),
            "constants": _pairs(meta.get("constants") or {}, " = "),
            "residual of x*": meta.get("reference_residual"),
        }
        if len(metas) > 1:
            parts.append(f"<p>{escape(names[number])}</p>")
        parts.append(facts_table(facts))
    return "".join([*parts, "</section>"])


def _configs(runs: Sequence[Run], names: dict[object, str]) -> str:
    """Each run's resolved config; of several, first what differs between them."""
    parts = ['<section id="config"><h2>Config, all defaults written out</h2>']
    if len(runs) > 1:
        parts.append(_differences(runs, names))
    for run in runs:
        shown = " open" if len(runs) == 1 else ""
        parts.append(
            f"<details{shown}><summary>config.toml of {escape(names[run.path])}"
            f"</summary><pre>{escape(run.config_text)}</pre></details>"
        )
    return "".join([*parts, "</section>"])


def _differences(runs: Sequence[Run], names: dict[object, str]) -> str:
    flat = [dict(leaves(run.config)) for run in runs]
    keys = dict.fromkeys(key for one in flat for key in one)
    differing = [key for key in keys if len({str(one.get(key)) for one in flat}) > 1]
    if not differing:
        return "<p>The runs have the same config.</p>"
    head = "".join(f'<th class="word">{escape(names[run.path])}</th>' for run in runs)
    rows = "".join(
        f'<tr><th class="word">{escape(key)}</th>'
        + "".join(
            f'<td class="word">{escape(str(one.get(key, "–")))}</td>' for one in flat
        )
        + "</tr>"
        for key in differing
    )
    return (
        '<p class="soft">What differs:</p><div class="card"><table id="differences">'
        f'<thead><tr><th class="word">key</th>{head}</tr></thead><tbody>{rows}</tbody>'
        "</table></div>"
    )


def _pairs(values: dict[str, Any], between: str) -> str:
    return ", ".join(f"{key}{between}{value}" for key, value in values.items())


def _rows(rows: list[int]) -> str:
    if not rows:
        return ""
    low, high = min(rows), max(rows)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
