"""docs/performance.md, written from the figures of docs/performance.json."""

from __future__ import annotations

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
ALONE = "rounds in {}"

HEAD = """\
# Performance

Written by `bash scripts/bench.sh`; the figures are those of
[performance.json](performance.json). Contenders take turns (A B A B …) on the same
ranks of one job, with counters and clocks on. A ratio is the median over the turns,
with the quartiles in brackets and, where there is one, the target in parentheses; one
that misses its target is bold. MPI is at THREAD_MULTIPLE, as in a run. The C programs
are in `scripts/bench`, compiled with `-O3 -march=native`; before anything is timed
their numbers are held against ours, to 1e-12.
"""

DECISIONS = """\
## What was decided, and why

- **C, compiled where it runs, and not numba.** Both run all rounds of a mix in one
  call. But every rank would import numba: {numba}. The shared object of the C engine
  needs no import, is built once for a machine (by one rank, into the cache
  folder) and needs neither MPI's nor Python's headers: MPI's functions are called by
  address on requests that mpi4py made. Without a compiler the extra `fast` brings one
  (`ziglang`), and without that the Python engine does the work.
- **Persistent requests are the default**: {persistent}. `exchange = "isend"` has its
  compiled form too.
- **MPI stays at THREAD_MULTIPLE**, as the watchdog's thread asks the other agents while
  the main thread is blocked in MPI: {threads}.
- **The own share of an update is not computed while messages travel**: {overlap}. On
  shared memory nothing travels unless a rank is inside MPI, and the second pass over
  the vector costs what it could save.
- **A round waits for what it receives.** Its own vector may still be on its way in the
  next one: {patient}. Messages of more than 4 kB need the sender's help, and there
  compiled rounds wait for both. The C programs above wait for both always.
- **What has no weight is not read.** Of two agents, or on a complete graph, Chebyshev's
  x^(k−1) has none from the second round on. The C programs read it all the same.
- **Vectors that travel start at a cache line.** Long messages are copied by the kernel
  from one process to the other, which on this processor is slow if the places within a
  page differ by 16 bytes: {misplaced}.
- **The compiled functions are functions of Python** that read and make arrays
  themselves. Where ranks share a core, all that Python does between two rounds is done
  with cold caches, and calls through ctypes and copies by numpy were a large part of a
  short mix. Of Python and numpy they know what the ABIs of both promise, which is
  checked when they are loaded.
- **A minibatch is not copied together.** The compiled engine reads each row where it
  lies, asks for later rows ahead of time, and uses the row for ⟨a, x⟩ and for the sum
  while it is in the cache; for other losses than the quadratic one the products are
  compiled and the loss stays in Python.
- **Full gradients of quadratic problems** are products with the d × d Gram matrix where
  that is smaller than the shard; sparse rows stay sparse.
"""


def page(book: dict[str, Any]) -> tuple[str, list[str]]:
    """Return the document, and the targets that were missed."""
    verdicts = Verdicts()
    parts = [HEAD]
    writers = {
        "rounds": rounds,
        "epochs": epochs,
        "inner-steps": inner_steps,
        "startup": startup,
        "memory": memory,
        "scaling": scaling,
    }
    for name, write in writers.items():
        if name in book:
            entry = book[name]
            parts.append(write(entry["results"], verdicts))
            parts.append(origin(entry["machine"]))
    parts.append(decisions(book))
    return "\n".join(parts), verdicts.missed


def origin(machine: dict[str, Any]) -> str:
    """Where and when a measurement was made."""
    return (
        f"*{machine['processor']}, {machine['cores']} cores, load {machine['load']} at "
        f"the end, Python {machine['python']}, {machine['date']} UTC.*\n"
    )


def table(head: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def microseconds(result: dict[str, Any], name: str | None) -> str:
    """The median of a contender, if it ran."""
    found = result["microseconds"].get(name)
    return "–" if found is None else f"{found['median']:.2f}"


def against_c(
    result: dict[str, Any], name: str, verdicts: Verdicts, what: str, target: Any
) -> str:
    """The ratio of an engine to C, if both ran."""
    ratio = result["ratio"].get(name)
    if ratio is None:
        return "–"
    return verdicts.mark(what, ratio["median"], target, ratio_text(ratio))


def rounds(results: Results, verdicts: Verdicts) -> str:
    """(1)."""
    rows = []
    for result in results:
        m, d, M = result["ranks"], result["d"], result["rounds_of_a_mix"]
        cells = [str(m), str(d), str(M), microseconds(result, result["base"])]
        for name in ENGINES:
            target = ROUNDS[m, name][d]
            what = f"round, m = {m}, d = {d}, {M} to a mix, {name}"
            cells.append(against_c(result, name, verdicts, what, target))
            alone = result["ratio"].get(ALONE.format(name))
            cells.append("–" if alone is None else f"{alone['median']:.2f}")
        rows.append(cells)
    head = [
        "m", "d", "rounds of a mix", "C, µs a round", "Python / C", "alone",
        "compiled / C", "alone",
    ]  # fmt: skip
    return (
        "## One gossip round\n\n"
        "A ring, Chebyshev weights; C is the faster of its Isend and its persistent "
        "form. In a mix of\n4 rounds the call of `mix` itself, with "
        "its clock and its look-up, weighs five times as much as in one\nof 20. "
        "*Alone* are the rounds without that call.\n\n" + table(head, rows)
    )


def epochs(results: Results, verdicts: Verdicts) -> str:
    """(2)."""
    rows = []
    for result in results:
        m, b = result["ranks"], result["b"]
        cells = [str(m), str(b), microseconds(result, result["base"])]
        for name in ENGINES:
            target = EPOCHS.get((m, name, b))
            what = f"epoch, m = {m}, b = {b}, {name}"
            cells.append(against_c(result, name, verdicts, what, target))
        rows.append(cells)
    head = ["m", "b", "C, µs an inner step", "Python / C", "compiled / C"]
    return (
        "## One epoch of PMGT-KatyushaX\n\nShift-and-invert PCA, 30,000 rows of 50 "
        "columns on every agent, M = 4. C uses numpy's own BLAS and is the\nfastest of "
        "three forms: rows copied together and two `dgemv`, with Isend or persistent "
        "requests, or `ddot` and\n`daxpy` row by row. Its indices are given, ours are "
        "drawn.\n\n" + table(head, rows)
    )


def inner_steps(results: Results, verdicts: Verdicts) -> str:
    """(3)."""
    rows = []
    for result in results:
        base, layout, n = result["base"], result["layout"], result["n"]
        cells = [layout, f"{n:,}", microseconds(result, base)]
        for name in ENGINES:
            cells.append(microseconds(result, name))
        growth = result["growth"]
        in_c = growth[base]["median"] if base in growth else None
        cells.append("–" if in_c is None else f"{in_c:.2f}")
        for name in ENGINES:
            if name not in growth:
                cells.append("–")
                continue
            value = growth[name]["median"]
            target = None if in_c is None else round(GROWTH * in_c, 2)
            what = f"growth of an inner step, {layout}, n = {n}, {name}"
            cells.append(verdicts.mark(what, value, target, f"{value:.2f}"))
        rows.append(cells)
    head = [
        "rows", "n", "C, µs", "Python, µs", "compiled, µs", "growth in C", "Python",
        "compiled",
    ]  # fmt: skip
    return (
        "## The minibatch of an inner step\n\n"
        "Drawing 173 indices and the difference of two minibatch gradients, one rank; "
        "50 numbers a row,\nin CSR among 1,000 columns. Growth is the time against "
        "that of the smallest shard: what is more\n"
        "than 1 is the memory's doing, and C's gather (without drawing) has it too.\n\n"
        + table(head, rows)
    )


def startup(results: Results, verdicts: Verdicts) -> str:
    """(4)."""
    rows = []
    for result in results:
        m = result["ranks"]
        seconds = {name: s["median"] for name, s in result["seconds"].items()}
        more = seconds["first step"] - seconds["bare"]
        ratio = result["ratio"]["first step"]
        what = f"start-up, {m} ranks"
        told = f"{more:+.2f}"
        limit = STARTUP_SECONDS_MORE.get(m)
        cells = [str(m), f"{seconds['bare']:.2f}", f"{seconds['first step']:.2f}"]
        cells.append(
            verdicts.mark(
                what, ratio["median"], STARTUP_RATIO.get(m), ratio_text(ratio)
            )
        )
        cells.append(verdicts.mark(f"{what}, seconds more", more, limit, told))
        with_numba = seconds.get("bare and numba")
        cells.append("–" if with_numba is None else f"{with_numba:.2f}")
        rows.append(cells)
    head = ["ranks", "bare, s", "first step, s", "ratio", "more, s", "bare + numba, s"]
    return (
        "## Start-up\n\n"
        "From the start of `mpirun` to the record of the first step of `pmgt_mpi.run`, "
        "against a program\nthat imports mpi4py and numpy and meets at a barrier. The "
        "package is compiled to bytecode before, as pip does.\n\n"
        + table(head, rows)
        + "\nWhat is more: every rank imports this package and `numpy.random`, which "
        "adds up with more ranks than\ncores; and all wait while agent 0 imports "
        "pydantic and checks the config.\n"
    )


def memory(results: Results, verdicts: Verdicts) -> str:
    """(5)."""
    rows = []
    for result in results:
        more = result["peak"] - result["bare"] - result["shard"]
        told = verdicts.mark(
            f"memory, {result['layout']}, MB",
            more / 1e6,
            MEMORY_MORE / 1e6,
            f"{more / 1e6:.0f}",
        )
        cells = [f"{result[name] / 1e6:.0f}" for name in ("shard", "bare", "peak")]
        rows.append([result["layout"], *cells, told])
    head = ["rows", "shard, MB", "bare, MB", "peak, MB", "beyond both, MB"]
    return (
        "## Memory of a rank\n\nPeak of the largest rank of two, 100,000 rows of 50 "
        "columns each, made as\ndense rows; where it says sparse, turned into CSR "
        "while they are loaded.\n\n" + table(head, rows)
    )


def scaling(results: Results, verdicts: Verdicts) -> str:  # noqa: ARG001
    """(6)."""
    rows = []
    for result in results:
        cells = [str(result["ranks"])]
        for name in ENGINES:
            found = result["seconds"].get(name)
            cells.append("–" if found is None else f"{found['median']:.2f}")
        cells += [str(result["step"]), f"{result['gradients']:,.0f}"]
        rows.append([*cells, f"{result['rounds']:,}", result["status"]])
    head = [
        "m",
        "Python, s",
        "compiled, s",
        "epochs",
        "gradients of an agent",
        "rounds",
    ]
    return (
        "## Time to 1e-6\n\n"
        "The algorithm's clock of PMGT-KatyushaX on one fixed problem (60,000 "
        "Bernoulli rows of 50 columns,\nring, automatic parameters) to a relative "
        "suboptimality of 1e-6, by the number of agents.\n\n"
        + table([*head, "status"], rows)
    )


def decisions(book: dict[str, Any]) -> str:
    """Why things are as they are, with the figures that say so."""
    numba = "it is not installed here, so its cost is not measured"
    if "numba" in book:
        told = [
            f"{r['ratio']['bare and numba']['median']:.1f} at {r['ranks']}"
            for r in book["numba"]["results"]
        ]
        when = book["numba"]["machine"]["date"]
        numba = (
            f"that alone multiplies a bare start-up by {', '.join(told)} ranks "
            f"({when} UTC)"
        )

    def of_c(name: str) -> str:
        """A contender's ratio to the persistent form in C, for each size."""
        found = [
            (r["ranks"], r["d"], r["microseconds"])
            for r in book.get("rounds", {}).get("results", [])
            if r["rounds_of_a_mix"] == 20 and name in r["microseconds"]
        ]
        ratios = [us[name]["median"] / us["C persistent"]["median"] for *_, us in found]
        pairs = zip(ratios, found, strict=True)
        return ", ".join(f"{r:.2f} (m = {m}, d = {d})" for r, (m, d, _) in pairs)

    levels = book.get("thread-level", {}).get("results", {})
    threads = ", ".join(
        f"{ratio_text(ratio)} ({name})"
        for name, ratio in levels.items()
        if name in ("C persistent", *ENGINES)
    )
    isend, overlap = of_c("C isend"), of_c("overlapped in C")
    unknown = "nothing to compare was compiled"
    patient, misplaced = of_c("patient in C"), of_c("misplaced in C")
    return DECISIONS.format(
        numba=numba,
        threads=(
            f"a round of m = 2, d = 50 then takes {threads} times as long as at "
            "THREAD_SERIALIZED"
            if threads
            else unknown
        ),
        persistent=f"Isend in C takes {isend} times as long" if isend else unknown,
        patient=f"in C that takes {patient} times as long" if patient else unknown,
        misplaced=f"placed so, a round in C takes {misplaced} times as long"
        if misplaced
        else unknown,
        overlap=f"in C that takes {overlap} times as long" if overlap else unknown,
    )
