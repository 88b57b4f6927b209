"""The tables of the document, and whether the demands are met."""

from __future__ import annotations

from experiment import DEMANDS, RUNGS
from grid_search import Search
from lab_base import Record
from methods import KATYUSHAX
from report_method import method_lines, momentum_lines
from trial_grids import inside


def gradients(record: Record) -> str:
    """Gradients in n; where the target was not reached, how far they led."""
    if record["status"] == "converged":
        return f"{record['gradients']:,.0f}"
    return f"> {record['gradients']:,.0f} (at {record['relative']:.1e})"


def report(
    searches: list[Search], ranks: bool, seed: int, kappas: dict[int, float]
) -> tuple[list[str], bool]:
    """The lines of the document, and whether all demands are met."""
    optima, found = optimum_rows(searches)
    ratios, met = ratio_rows(searches)
    lines = [
        *method_lines(ranks, seed, kappas),
        "",
        "| m | r | method | step | b | M | momentum | gradients / n | rounds | seconds "
        "| trials | inside |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
        *optima,
        "",
        "| m | r | KatyushaX's gradients over those of | ratio | at most | met |",
        "|---|---|---|---|---|---|",
        *ratios,
        *bound_lines(searches),
        *momentum_lines(searches),
    ]
    return lines, found and met


def optimum_rows(searches: list[Search]) -> tuple[list[str], bool]:
    """A row for each optimum, and whether those at m = 20 lie inside their grids."""
    rows, found = [], True
    for search in searches:
        m, r = search.lab.m, search.lab.r
        for method, point in search.best.items():
            best = search.result(method)
            v = best["values"]
            tau = f"{v['momentum']:.3g}" if "momentum" in v else ""
            within = inside(method, point, search.seen[method], search.small)
            rows.append(
                f"| {m} | {r} | {method} | {v['step_size']:.3g} "
                f"| {v.get('batch_size', '')} | {v.get('mix_rounds', '')} "
                f"| {tau} "
                f"| {gradients(best)} | {best['rounds']:,} | {best['seconds']:.1f} "
                f"| {len(search.seen[method])} | {'yes' if within else 'NO'} |"
            )
            found &= within or m != 20
    return rows, found


def ratio_rows(searches: list[Search]) -> tuple[list[str], bool]:
    """A row for each rival of KatyushaX, and whether the demands at m = 20 are met."""
    rows, met = [], True
    for search in searches:
        m, r = search.lab.m, search.lab.r
        own = search.result(KATYUSHAX)
        for method in rivals(search):
            best = search.result(method)
            ratio = own["gradients"] / best["gradients"]
            least = "" if best["status"] == "converged" else "< "
            demand = DEMANDS[r, method] if m == 20 else None
            good = demand is None or (own["status"] == "converged" and ratio <= demand)
            met &= good
            rows.append(
                f"| {m} | {r} | {method} | {least}{ratio:.3g} "
                f"| {'' if demand is None else f'{demand:g}'} "
                f"| {'' if demand is None else 'yes' if good else 'NO'} |"
            )
    return rows, met


def rivals(search: Search) -> list[str]:
    """The methods KatyushaX is compared with."""
    return [method for method in search.best if method != KATYUSHAX]


def bound_lines(searches: list[Search]) -> list[str]:
    """What `<` means, where a ratio has it."""
    stopped = [
        search.lab.r
        for search in searches
        for method in rivals(search)
        if search.result(method)["status"] != "converged"
    ]
    if not stopped:
        return []
    lines = [
        "",
        "`<` marks a bound, not a ratio: the other method was stopped before it "
        "reached the target, and what it needs is",
        "not known.",
    ]
    if 300 in stopped:
        lines[-1] += (
            " PMGT-SVRG at r = 300 was stopped after the epochs that on average take "
            f"{RUNGS[-1][0]:g} times KatyushaX's gradients."
        )
    return lines
