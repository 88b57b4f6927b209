"""docs/performance.md, written from the figures of docs/performance.json."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from targets import (
    EPOCHS,
    GROWTH,
    MEMORY_MORE,
    ROUNDS,
    STARTUP_RATIO,
    STARTUP_SECONDS_MORE,
    Verdicts,
    ratio_text,
)

Results = list[dict[str, Any]]
ENGINES = ("python", "compiled")
TEMPLATE = Path(__file__).with_name("performance.template.md")
MISSING = "–"


def page(book: dict[str, Any]) -> tuple[str, list[str]]:
    """Return the document, and the targets that were missed."""
    verdicts = Verdicts()
    parts = {
        "rounds": rounds,
        "epochs": epochs,
        "inner-steps": inner_steps,
        "startup": startup,
        "memory": memory,
        "scaling": scaling,
        "overlap": overlap,
    }
    told = {"isend": isend(book), "thread_level": thread_level(book)}
    told["beyond_c"] = beyond_c(book)
    for name, write in parts.items():
        text = "*Not measured.*\n"
        if entry := book.get(name):
            table = [[*line] for line in write(entry["results"], verdicts)]
            table.insert(1, ["---"] * len(table[0]))
            lines = ["| " + " | ".join(line) + " |" for line in table]
            text = "\n".join(lines) + f"\n\n{origin(entry['machine'])}\n"
        told[name.replace("-", "_")] = text
    return TEMPLATE.read_text("utf-8").format(**told), verdicts.missed


def origin(machine: dict[str, Any]) -> str:
    """Where and when a measurement was made."""
    return (
        f"*{machine['processor']}, {machine['cores']} cores, load {machine['load']} at "
        f"the end, Python {machine['python']}, {machine['date']} UTC.*"
    )


def median(figures: dict[str, Any], name: str | None) -> str:
    """The median of a contender's figure, if it ran."""
    return f"{figures[name]['median']:.2f}" if name in figures else MISSING


def against_c(
    result: dict[str, Any], name: str, verdicts: Verdicts, what: str, target: Any
) -> str:
    """The ratio of an engine to C, if both ran."""
    ratio = result["ratio"].get(name)
    if ratio is None:
        return MISSING
    return verdicts.mark(what, ratio["median"], target, ratio_text(ratio))


def rounds(results: Results, verdicts: Verdicts) -> list[list[str]]:
    """(1)."""
    rows = [["m", "d", "rounds of a mix", "C, µs a round"]]
    rows[0] += ["Python / C", "compiled / C"]
    for result in results:
        m, d, M = result["ranks"], result["d"], result["rounds_of_a_mix"]
        cells = [str(m), str(d), str(M), median(result["microseconds"], result["base"])]
        for name in ENGINES:
            what = f"round, m = {m}, d = {d}, {M} to a mix, {name}"
            cells.append(against_c(result, name, verdicts, what, ROUNDS[m, name][d]))
        rows.append(cells)
    return rows


def epochs(results: Results, verdicts: Verdicts) -> list[list[str]]:
    """(2)."""
    rows = [["m", "b", "M", "C, µs an inner step", "Python / C", "compiled / C"]]
    rows[0] += [f"switches, {name}" for name in ("C", *ENGINES)]
    for result in results:
        m, b, M, base = (result[name] for name in ("ranks", "b", "M", "base"))
        cells = [str(m), str(b), str(M), median(result["microseconds"], base)]
        for name in ENGINES:
            what = f"epoch, m = {m}, b = {b}, {name}"
            target = EPOCHS.get((m, name, b)) if M else None
            cells.append(against_c(result, name, verdicts, what, target))
        switches = result.get("switches", {})
        for name in (base, *ENGINES):
            cells.append(f"{switches[name]:.1f}" if name in switches else MISSING)
        rows.append(cells)
    return rows


def beyond_c(book: dict[str, Any]) -> str:
    """What the compiled engine takes beyond C, with messages and without."""
    more: dict[tuple[int, int], dict[bool, float]] = {}
    for result in book.get("epochs", {}).get("results", []):
        found, size = result["microseconds"], (result["ranks"], result["b"])
        if result["base"] in found and "compiled" in found:
            beyond = found["compiled"]["median"] - found[result["base"]]["median"]
            more.setdefault(size, {})[result["M"] > 0] = beyond
    told = [
        f"{with_them[True]:+.1f} µs, and {with_them[False]:+.1f} without messages, at "
        f"m = {m}, b = {b}"
        for (m, b), with_them in more.items()
        if len(with_them) == 2
    ]
    return "; ".join(told) if told else "not measured"


def inner_steps(results: Results, verdicts: Verdicts) -> list[list[str]]:
    """(3)."""
    rows = [["rows", "n", "C, µs", "Python, µs", "compiled, µs"]]
    rows[0] += ["growth in C", "Python", "compiled"]
    for result in results:
        base, growth = result["base"], result["growth"]
        layout, n = result["layout"], result["n"]
        cells = [layout, f"{n:,}"]
        cells += [median(result["microseconds"], name) for name in (base, *ENGINES)]
        cells.append(median(growth, base))
        target = round(GROWTH * growth[base]["median"], 2) if base in growth else None
        for name in ENGINES:
            told = median(growth, name)
            if name in growth:
                what = f"growth of an inner step, {layout}, n = {n}, {name}"
                told = verdicts.mark(what, growth[name]["median"], target, told)
            cells.append(told)
        rows.append(cells)
    return rows


def startup(results: Results, verdicts: Verdicts) -> list[list[str]]:
    """(4)."""
    parts = ("bare", "imports", "imports of agent 0")
    rows = [["ranks", "bare, s", "with the imports of every rank, s"]]
    rows[0] += ["and of agent 0, s", "first step, s", "ratio", "more, s"]
    for result in results:
        m, seconds, what = result["ranks"], result["seconds"], "first step"
        more = seconds[what]["median"] - seconds["bare"]["median"]
        told, limit = f"start-up, {m} ranks", STARTUP_RATIO.get(m)
        cells = [str(m), *(median(seconds, part) for part in (*parts, what))]
        cells.append(against_c(result, what, verdicts, told, limit))
        limit = STARTUP_SECONDS_MORE.get(m)
        cells.append(
            verdicts.mark(f"{told}, seconds more", more, limit, f"{more:+.2f}")
        )
        rows.append(cells)
    return rows


def memory(results: Results, verdicts: Verdicts) -> list[list[str]]:
    """(5)."""
    rows = [["rows", "shard, MB", "bare, MB", "peak, MB", "beyond both, MB"]]
    for result in results:
        layout = result["layout"]
        more = (result["peak"] - result["bare"] - result["shard"]) / 1e6
        cells = [f"{result[name] / 1e6:.0f}" for name in ("shard", "bare", "peak")]
        what, limit = f"memory, {layout}, MB", MEMORY_MORE / 1e6
        rows.append([layout, *cells, verdicts.mark(what, more, limit, f"{more:.0f}")])
    return rows


def scaling(results: Results, verdicts: Verdicts) -> list[list[str]]:  # noqa: ARG001
    """(6)."""
    rows = [["m", "Python, s", "compiled, s", "epochs", "gradients of an agent"]]
    rows[0] += ["rounds", "status"]
    for result in results:
        cells = [str(result["ranks"])]
        cells += [median(result["seconds"], name) for name in ENGINES]
        cells += [str(result["step"]), f"{result['gradients']:,.0f}"]
        rows.append([*cells, f"{result['rounds']:,}", result["status"]])
    return rows


def overlap(results: Results, verdicts: Verdicts) -> list[list[str]]:  # noqa: ARG001
    """(7)."""
    columns = list(dict.fromkeys((r["link"], r["ranks"]) for r in results))
    found: dict[tuple[str, str, int], dict[Any, str]] = {}
    for r in results:
        ratio, row = r["ratio"], (r["gradient"], r["method"], r["d"])
        text = f"{ratio['median']:.2f} [{ratio['low']:.2f}, {ratio['high']:.2f}]"
        found.setdefault(row, {})[r["link"], r["ranks"], r["engine"]] = text
    rows = [["gradient", "method", "d"]]
    rows[0] += [f"{link}, m = {m}, {e}" for link, m in columns for e in ENGINES]
    for (gradient, method, d), cells in found.items():
        told = [cells.get((*column, e), MISSING) for column in columns for e in ENGINES]
        rows.append([gradient, method, str(d), *told])
    return rows


def isend(book: dict[str, Any]) -> str:
    """What Isend costs in C beside persistent requests, for each size."""
    told = []
    for result in book.get("rounds", {}).get("results", []):
        found = result["microseconds"]
        if result["rounds_of_a_mix"] == 20 and "C isend" in found:
            ratio = found["C isend"]["median"] / found["C persistent"]["median"]
            told.append(f"{ratio:.2f} (m = {result['ranks']}, d = {result['d']})")
    if not told:
        return "nothing to compare was compiled"
    return f"Isend in C takes {', '.join(told)} times as long"


def thread_level(book: dict[str, Any]) -> str:
    """What THREAD_MULTIPLE costs a round."""
    if "thread-level" not in book:
        return "what that costs was not measured"
    (result,) = book["thread-level"]["results"]
    told = [
        f"{ratio_text(result['ratio'][name])} ({name})"
        for name in ("C persistent", *ENGINES)
        if name in result["ratio"]
    ]
    return (
        f"a round of m = {result['ranks']}, d = {result['d']} then takes "
        f"{', '.join(told)} times as long as at THREAD_SERIALIZED"
    )
