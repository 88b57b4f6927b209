"""Measure how close the package comes to C, and write docs/performance.md.

Usage: bash scripts/bench.sh [NAME...] [--repeats N]

NAMEs are rounds, thread-level, epochs, inner-steps, startup, memory, scaling, overlap;
without one all are measured. Figures go to docs/performance.json, where those of a
measurement that was not asked for stay as they were, and from there to the document.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from contenders import NoCompilerError, compile_all  # noqa: E402
from performance_page import page  # noqa: E402
from ratios import spread  # noqa: E402
from slow_link import HOSTS, NoSlowLinkError, slow_link  # noqa: E402
from whole_runs import Runs, memory, scaling, startup  # noqa: E402

from tests.launcher import mpirun  # noqa: E402

HERE = Path(__file__).parent
BOOK = ROOT / "docs" / "performance.json"

Results = list[dict[str, Any]]


def on_ranks(
    program: str,
    sizes: tuple[int, ...],
    *arguments: Any,
    seconds: float = 300,
    **options: Any,
) -> Results:
    """Run a program on several numbers of ranks; join what it tells."""
    results = []
    for ranks in sizes:
        args = [str(HERE / program), *map(str, arguments)]
        done = mpirun(ranks, args, timeout=seconds, **options).expect(0)
        results += json.loads(done.stdout.strip().splitlines()[-1])
    return results


def thread_levels(folder: Path, repeats: int) -> Results:
    """Compare rounds of small vectors at the thread level of a run with the one below.

    The level is that of a whole job, so jobs take turns.
    """
    levels = ("serialized", "multiple")
    seconds: dict[str, dict[str, list[float]]] = {}
    for _ in range(max(3, repeats // 3)):
        for level in levels:
            env = {"MPI4PY_RC_THREAD_LEVEL": level}
            result = on_ranks("rounds.py", (2,), folder, 5, 50, env=env)[-1]
            for name, told in result["microseconds"].items():
                both = seconds.setdefault(name, {level: [] for level in levels})
                both[level].append(told["median"])
    ratio = {
        name: spread([b / a for a, b in zip(*both.values(), strict=True)])
        for name, both in seconds.items()
    }
    return [{"ranks": 2, "d": 50, "ratio": ratio}]


def overlap(folder: Path, repeats: int) -> Results:
    """Compare rounds under way with rounds first, on one machine and on a slow link."""
    results = on_ranks("overlap.py", (2, 4), "shared memory", repeats, seconds=900)
    try:
        with slow_link(folder) as link:
            args = [HERE / "overlap.py", "slow link", str(repeats)]
            done = link.mpirun(*args, timeout=900).expect(0)
            results += json.loads(done.stdout.strip().splitlines()[-1])
    except NoSlowLinkError as error:
        print(f"no slow link between {len(HOSTS)} hosts: {error}")
    return results


MEASUREMENTS: dict[str, Callable[[Path, int], Results]] = {
    "rounds": lambda folder, n: on_ranks("rounds.py", (2, 4, 8), folder, n),
    "thread-level": thread_levels,
    "epochs": lambda folder, n: on_ranks("epochs.py", (2, 8), folder, n),
    "inner-steps": lambda folder, n: on_ranks("inner_steps.py", (1,), folder, n),
    "startup": lambda folder, n: startup(Runs(folder), max(1, n // 3)),
    "memory": lambda folder, n: memory(Runs(folder)),  # noqa: ARG005
    "scaling": lambda folder, n: scaling(Runs(folder), max(1, n // 5)),
    "overlap": overlap,
}
"""Each takes a folder and the number of repeats."""


def machine() -> dict[str, Any]:
    """Where the figures come from."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    models = [line.partition(":")[2].strip() for line in lines if "model name" in line]
    return {
        "processor": models[0] if models else platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "load": round(os.getloadavg()[0], 1),
        "python": platform.python_version(),
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M"),
    }


def written(book: dict[str, Any]) -> str:
    """Return the figures as JSON, with a line for each result."""
    parts = []
    for name, entry in book.items():
        lines = [json.dumps(entry["machine"]), *map(json.dumps, entry["results"])]
        machine, results = lines[0], ",\n  ".join(lines[1:])
        parts.append(f'"{name}": {{"machine": {machine}, "results": [\n  {results}]}}')
    return "{\n" + ",\n".join(parts) + "\n}\n"


def measure(names: list[str], repeats: int, book: dict[str, Any]) -> None:
    """Make measurements, and write each down as soon as it is there."""
    # As pip does where the package is installed: no rank compiles Python.
    compileall.compile_dir(ROOT / "pmgt_mpi", quiet=1)
    with tempfile.TemporaryDirectory(prefix="pmgt-bench-") as temporary:
        folder = Path(temporary)
        try:
            compile_all(folder)
        except NoCompilerError as error:
            print(f"{error}: nothing is compared with C; the rest still runs")
        for name in names:
            start = time.monotonic()
            print(f"{name} …", flush=True)
            results = MEASUREMENTS[name](folder, repeats)
            book[name] = {"machine": machine(), "results": results}
            print(f"{name}: {time.monotonic() - start:.0f} s", flush=True)
            BOOK.write_text(written(book))


def main() -> None:
    """Measure what is asked for, and write it down."""
    parser = argparse.ArgumentParser(
        prog="bash scripts/bench.sh",
        description=(__doc__ or "").strip(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=", ".join(MEASUREMENTS)
    )
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--page-only", action="store_true", help="only write the page")
    options = parser.parse_args()
    if unknown := set(options.names) - set(MEASUREMENTS):
        parser.error(f"unknown: {', '.join(unknown)}; valid: {', '.join(MEASUREMENTS)}")
    book = json.loads(BOOK.read_text()) if BOOK.exists() else {}
    if not options.page_only:
        measure(options.names or list(MEASUREMENTS), options.repeats, book)
    text, missed = page(book)
    (ROOT / "docs" / "performance.md").write_text(text)
    print("written: docs/performance.md")
    print("\n".join(["missed targets:", *missed]) if missed else "all targets are met")


if __name__ == "__main__":
    main()
