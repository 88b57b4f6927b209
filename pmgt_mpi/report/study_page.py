"""The page of a study, which is reported as one thing."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from pmgt_mpi.output.study import Study, comparisons
from pmgt_mpi.output.study_tables import ratio_table, ratio_title, runs_table, table
from pmgt_mpi.pictures.pictures import Picture
from pmgt_mpi.report.page import circumstances_section, fill_page
from pmgt_mpi.report.sections import panels, section

CONTENTS = {
    "convergence": "Convergence",
    "costs": "Costs",
    "ratios": "Ratios",
    "runs": "Runs",
    "circumstances": "Circumstances",
    "config": "Config",
}


def write_study_page(path: Path, study: Study, pictures: Sequence[Picture]) -> None:
    """Write the page of a study."""
    groups = study.groups
    compared = list(comparisons(groups))
    draws = len({run["draw"] for group in groups for run in group.runs})
    title = f"Study {study.name}"
    links = "".join(f'<a href="#{key}">{text}</a>' for key, text in CONTENTS.items())
    facts = f"{study.agents} agents, {draws} draws, {study.path}"
    ratios = "<p>There is one algorithm, and nothing to hold it against.</p>"
    if compared:
        ratios = (
            f'<p class="soft">{escape(ratio_title(compared))}.</p>'
            f"{_table('ratio-table', ratio_table(compared))}"
        )
    body = [
        f'<h1>{escape(title)}</h1><p class="soft">{escape(facts)}</p>',
        f"<nav>{links}</nav>",
        section(
            "convergence",
            "Convergence",
            '<p class="soft">The median and the quartiles of the cost to reach each '
            "level. A median ends where half of the runs do.</p>"
            f"{panels(pictures, 'curves')}",
        ),
        section(
            "costs",
            "Costs: median and quartiles",
            _table("study-table", table(groups)),
        ),
        section("ratios", "Ratios", ratios),
        section(
            "runs",
            "Runs",
            f"<details><summary>All {len(study.results)} runs</summary>"
            f"{_table('run-table', runs_table(groups))}</details>",
        ),
        circumstances_section([study.head]),
        section("config", "Config", f"<pre>{escape(study.config_text)}</pre>"),
    ]
    fill_page(path, title, "\n".join(body), {"names": {}, "curves": []})


def _table(name: str, rows: Sequence[Sequence[Any]]) -> str:
    """Make a table of its cells: the first column names what a line is about."""
    header, *lines = rows
    head = "".join(f'<th class="word" scope="col">{escape(w)}</th>' for w in header)
    body = "".join(
        f'<tr><th class="word" scope="row">{escape(line[0])}</th>'
        + "".join(f'<td class="word">{escape(_word(cell))}</td>' for cell in line[1:])
        + "</tr>"
        for line in lines
    )
    return (
        f'<div class="card"><table id="{name}"><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _word(cell: Any) -> str:
    return f"{cell:.6g}" if isinstance(cell, float) else str(cell)
