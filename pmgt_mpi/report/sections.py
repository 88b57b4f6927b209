"""The sections of the page, as HTML."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from pmgt_mpi.output.runs import COSTS, Run
from pmgt_mpi.pictures.curves import Curve
from pmgt_mpi.pictures.panel import BOUND
from pmgt_mpi.pictures.pictures import Picture, page_colour
from pmgt_mpi.pictures.times import KEYS, communication_share, ranks_of
from pmgt_mpi.report.formats import number
from pmgt_mpi.report.targets import Reached, best, target_name

WARNING = ("diverged", "interrupted", "killed")
"""Statuses that a reader should not overlook."""

RANKS_TOLD = 100
"""Rows of an algorithm in the table of ranks: those that communicate the most."""


def curves_section(curves: Sequence[Curve], pictures: Sequence[Picture]) -> str:
    """The legend, and a panel for each cost."""
    items = "".join(f"<li>{_stroke(c)}{escape(c.name)}</li>" for c in curves)
    bounds = any(curve.points("step", BOUND) for curve in curves)
    text = "Point at a curve to see its numbers."
    axes = [picture.axes[k] for picture in pictures if picture.axes for k in "xy"]
    if any("zero_to" in axis for axis in axes):
        text += " An axis that says 0 before powers of ten is linear up to the first."
    if bounds:
        text += " Thin dashed lines are the bounds that theory gives."
    return section(
        "convergence",
        "Convergence",
        f'<p class="soft">{text}</p><ul class="legend">{items}</ul>'
        + panels(pictures, "curves"),
    )


def costs_section(rows: Sequence[Reached]) -> str:
    """The cost to reach each target: the numbers of the first record below it."""
    title = "Cost to reach a relative suboptimality"
    if not rows:
        return section(
            "costs",
            title,
            "<p>The minimum F* is not known, so there is no suboptimality to reach; "
            "<code>evaluate.reference = true</code> finds it.</p>",
        )
    body = []
    for target in dict.fromkeys(row.target for row in rows):
        group = [row for row in rows if row.target == target]
        lines = [_cost_line(row, rows) for row in group]
        name = f"≤ {target_name(target)}"
        head = f'<th scope="rowgroup" rowspan="{len(group)}">{name}</th>'
        lines[0] = lines[0].replace("<tr>", f"<tr>{head}", 1)
        body.append(f"<tbody>{''.join(lines)}</tbody>")
    head = _head(("target", "algorithm", "steps", *COSTS), words=2)
    return section(
        "costs",
        title,
        '<p class="soft">The first evaluation at or below the target; the least '
        "of each is marked. Gradients are component gradients per agent; messages "
        "and bytes are those of all agents together.</p>"
        f'<div class="card"><table id="cost-table">{head}{"".join(body)}</table></div>',
    )


def ends_section(curves: Sequence[Curve]) -> str:
    """The last record of every algorithm, and the parameters as used."""
    keys = ("relative_suboptimality", "objective", "consensus")
    lines = []
    for curve in curves:
        last = curve.records[-1]
        cells = [_number_cell(last[name], name) for name in ("step", *COSTS)]
        cells += [_cell(last[key], _short(last[key])) for key in keys]
        kind = ' class="word warn"' if curve.status in WARNING else ' class="word"'
        lines.append(
            f"<tr>{_name_cell(curve)}<td{kind}>{escape(curve.status)}</td>"
            f"{''.join(cells)}</tr>"
        )
    columns = ("algorithm", "status", "steps", *COSTS, "rel. subopt.", "objective")
    head = _head((*columns, "consensus"), words=2)
    return section(
        "ends",
        "Where each algorithm stands",
        f'<div class="card"><table id="end-table">{head}<tbody>{"".join(lines)}</tbody>'
        f"</table></div>{_parameters(curves)}",
    )


def graph_section(runs: Sequence[Run], pictures: Sequence[Picture]) -> str:
    """Every run's graph beside what is known of it."""
    drawn = iter([picture for picture in pictures if picture.section == "graph"])
    parts = []
    for run in runs:
        network = run.meta["network"]
        lambda_2 = network.get("lambda_2")
        gap = None if lambda_2 is None else 1 - lambda_2
        facts = {
            "topology": network.get("topology"),
            "weights": network.get("weights"),
            "agents": run.agents,
            "edges": network.get("edges"),
            "λ₂": lambda_2,
            "1 − λ₂": gap,
            "λ_min": network.get("lambda_min"),
            "W positive semidefinite": network.get("psd"),
            "W without negative entries": network.get("nonnegative"),
            "hosts": _hosts(run),
        }
        picture = (
            '<p class="soft">The edges are written when the run ends.</p>'
            if run.edges is None
            else _figure(next(drawn))
        )
        parts.append(f'<div class="split">{picture}{facts_table(facts)}</div>')
    return section("graph", "Gossip graph", "".join(parts))


def times_section(curves: Sequence[Curve], pictures: Sequence[Picture]) -> str:
    """The time split of the ranks."""
    bars = panels(pictures, "times")
    text = (
        "A straggler computes longer than the others, and they wait for it, which "
        "counts as communication. So does a slow link: all wait for what it carries. "
        "Bars of different algorithms have different scales."
        if bars
        else "The time split of each rank is written when a run ends."
    )
    return section(
        "times",
        "Time of each rank",
        f'<p class="soft">{text}</p>{bars}{_rank_table(curves)}',
    )


def _rank_table(curves: Sequence[Curve]) -> str:
    """Each rank's seconds, and the largest share of communication marked."""
    lines = []
    for curve in curves:
        rows = ranks_of(curve)
        shares = {id(row): communication_share(row) for row in rows}
        most = max(shares.values(), default=0.0)
        rows = sorted(rows, key=lambda row: -shares[id(row)])[:RANKS_TOLD]
        for row in sorted(rows, key=lambda row: int(row["agent"])):
            share, host = shares[id(row)], str(row.get("host", "–"))
            lines.append(
                f'<tr>{_name_cell(curve)}<td class="word">{int(row["agent"])}</td>'
                f'<td class="word">{escape(host)}</td>'
                + "".join(_number_cell(row[key], "seconds") for key in KEYS.values())
                + _cell(share, f"{share:.0%}", best=share == most > 0)
                + "</tr>"
            )
    if not lines:
        return ""
    columns = ("algorithm", "agent", "host", *KEYS, "share of communication")
    return (
        "<details><summary>Seconds of each rank, of at most "
        f'{RANKS_TOLD} an algorithm</summary><div class="card"><table id="rank-table">'
        f"{_head(columns, words=3)}<tbody>{''.join(lines)}</tbody></table></div>"
        "</details>"
    )


def facts_table(facts: dict[str, Any]) -> str:
    """Names and values, without those that are not known."""
    rows = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td>{escape(_told(value))}</td></tr>'
        for name, value in facts.items()
        if value not in (None, "", {}, [])
    )
    return f'<div class="card"><table class="facts">{rows}</table></div>'


def _cost_line(row: Reached, rows: Sequence[Reached]) -> str:
    cells = [_number_cell(row.cost("step"), "step")]
    for name in COSTS:
        value = row.cost(name)
        is_best = value is not None and value == best(rows, row.target, name)
        cells.append(_number_cell(value, name, best=is_best))
    return f"<tr>{_name_cell(row.curve)}{''.join(cells)}</tr>"


def _number_cell(value: float | None, name: str, *, best: bool = False) -> str:
    return _cell(value, number(value, name), best=best)


def _cell(value: float | None, word: str, *, best: bool = False) -> str:
    """A cell that also carries the number with all its digits."""
    kind = ' class="best"' if best else ""
    exact = "" if value is None else f' data-value="{json.dumps(value)}"'
    return f"<td{kind}{exact}>{word}</td>"


def _name_cell(curve: Curve) -> str:
    swatch = (
        f'<span class="swatch" style="background:{page_colour(curve.colour)}"></span>'
    )
    return f'<th scope="row" class="word">{swatch}{escape(curve.name)}</th>'


def _parameters(curves: Sequence[Curve]) -> str:
    """The parameters as used, every word of the config made a number."""
    used = {}
    for curve in curves:
        summary = (curve.run.summary or {}) if curve.run else {}
        used[curve.name] = summary.get(curve.label, {}).get("parameters") or {}
    keys = dict.fromkeys(key for values in used.values() for key in values)
    if not keys:
        return ""
    lines = [
        f"<tr>{_name_cell(curve)}"
        + "".join(
            f"<td>{escape(_told(used[curve.name].get(key, '–')))}</td>" for key in keys
        )
        + "</tr>"
        for curve in curves
    ]
    head = _head(("parameters as used", *keys), words=1)
    body = f"<tbody>{''.join(lines)}</tbody>"
    return f'<div class="card"><table id="parameters">{head}{body}</table></div>'


def _hosts(run: Run) -> str:
    counts = Counter(run.meta["hosts"])
    return ", ".join(
        f"{host} ({n} rank{'s' if n > 1 else ''})" for host, n in counts.items()
    )


def panels(pictures: Iterable[Picture], part: str) -> str:
    """Pictures of one part of the page, beside each other."""
    figures = [_figure(picture) for picture in pictures if picture.section == part]
    return f'<div class="panels">{"".join(figures)}</div>' if figures else ""


def _figure(picture: Picture) -> str:
    axes = ""
    if picture.axes is not None:
        axes = f' data-axes="{escape(json.dumps(picture.axes))}"'
    svg = picture.svg.replace(
        "<svg", f'<svg role="img" aria-label="{escape(picture.alt)}"', 1
    )
    note = f"<figcaption>{escape(picture.note)}</figcaption>" if picture.note else ""
    return f'<figure id="{picture.stem}"{axes}>{svg}{note}</figure>'


def _stroke(curve: Curve) -> str:
    dashes = ",".join(f"{2 * length:g}" for length in curve.dashes)
    return (
        f'<svg viewBox="0 0 34 10" aria-hidden="true"><line x1="0" y1="5" x2="34" '
        f'y2="5" style="stroke:{page_colour(curve.colour)}" stroke-width="2.5" '
        f'stroke-dasharray="{dashes}"/></svg>'
    )


def _head(names: Sequence[str], words: int) -> str:
    cells = [
        f'<th scope="col"{" class=word" if k < words else ""}>{escape(name)}</th>'
        for k, name in enumerate(names)
    ]
    return f"<thead><tr>{''.join(cells)}</tr></thead>"


def section(name: str, title: str, content: str) -> str:
    """One section of the page."""
    return f'<section id="{name}"><h2>{title}</h2>{content}</section>'


def _short(value: float | None) -> str:
    return number(None, "") if value is None else f"{value:.4g}"


def _told(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)
