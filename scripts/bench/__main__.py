"""Measure how close the package comes to C, and write docs/performance.md.

Usage: bash scripts/bench.sh [NAME...] [--repeats N]

NAMEs are rounds, thread-level, epochs, inner-steps, startup, memory, scaling; without
one all are measured. Figures go to docs/performance.json, where those of a
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
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from contenders import NoCompilerError, compile_all  # noqa: E402
from performance_page import page  # noqa: E402
from ratios import spread  # noqa: E402
from whole_runs import Runs, memory, scaling, startup  # noqa: E402

from tests.launcher import mpirun  # noqa: E402

HERE = Path(__file__).parent
NAMES = (
    "rounds",
    "thread-level",
    "epochs",
    "inner-steps",
    "startup",
    "memory",
    "scaling",
)
BOOK = ROOT / "docs" / "performance.json"


def on_ranks(program: str, sizes: tuple[int, ...], folder: Path, repeats: int) -> Any:
    """Run a program on several numbers of ranks; join what it tells."""
    results = []
    for ranks in sizes:
        arguments = [HERE / program, folder, str(repeats)]
        done = mpirun(ranks, arguments, timeout=300).expect(0)
        results += json.loads(done.stdout.strip().splitlines()[-1])
    return results


def thread_levels(folder: Path, repeats: int) -> Any:
    """Compare rounds of small vectors at the thread level of a run with the one below.

    The level is that of a whole job, so jobs take turns.
    """
    levels = ("serialized", "multiple")
    seconds: dict[str, dict[str, list[float]]] = {}
    for _ in range(max(3, repeats // 3)):
        for level in levels:
            arguments = [HERE / "rounds.py", folder, "5", "50"]
            env = {"MPI4PY_RC_THREAD_LEVEL": level}
            done = mpirun(2, arguments, timeout=300, env=env).expect(0)
            result = json.loads(done.stdout.strip().splitlines()[-1])[-1]
            for name, told in result["microseconds"].items():
                both = seconds.setdefault(name, {level: [] for level in levels})
                both[level].append(told["median"])
    return {
        name: spread([b / a for a, b in zip(*both.values(), strict=True)])
        for name, both in seconds.items()
    }


def measure(name: str, folder: Path, repeats: int) -> Any:
    """Make one measurement."""
    runs = Runs(Path(tempfile.mkdtemp(dir=folder)))
    few = max(1, repeats // 3)
    measurements = {
        "rounds": lambda: on_ranks("rounds.py", (2, 4, 8), folder, repeats),
        "thread-level": lambda: thread_levels(folder, repeats),
        "epochs": lambda: on_ranks("epochs.py", (2, 8), folder, repeats),
        "inner-steps": lambda: on_ranks("inner_steps.py", (1,), folder, repeats),
        "startup": lambda: startup(runs, few),
        "memory": lambda: memory(runs),
        "scaling": lambda: scaling(runs, max(1, repeats // 5)),
    }
    return measurements[name]()


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


def main() -> None:
    """Measure what is asked for, and write it down."""
    parser = argparse.ArgumentParser(
        prog="bash scripts/bench.sh",
        description=(__doc__ or "").strip(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NAMES))
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--page-only", action="store_true", help="only write the page")
    options = parser.parse_args()
    if unknown := set(options.names) - set(NAMES):
        parser.error(f"unknown: {', '.join(unknown)}; valid: {', '.join(NAMES)}")
    book = json.loads(BOOK.read_text()) if BOOK.exists() else {}
    # As pip does where the package is installed: no rank compiles Python.
    compileall.compile_dir(ROOT / "pmgt_mpi", quiet=1)
    with tempfile.TemporaryDirectory(prefix="pmgt-bench-") as name:
        folder = Path(name)
        try:
            compile_all(folder)
        except NoCompilerError as error:
            print(f"{error}: nothing is compared with C; the rest still runs")
        for name in [] if options.page_only else options.names or NAMES:
            start = time.monotonic()
            print(f"{name} …", flush=True)
            results = measure(name, folder, options.repeats)
            book[name] = {"machine": machine(), "results": results}
            if name == "startup" and "bare and numba" in results[0]["ratio"]:
                book["numba"] = book[name]  # it stays where numba is not installed
            print(f"{name}: {time.monotonic() - start:.0f} s", flush=True)
            BOOK.write_text(json.dumps(book, indent=1) + "\n")
    text, missed = page(book)
    (ROOT / "docs" / "performance.md").write_text(text)
    print(f"written: {BOOK.relative_to(ROOT)}, docs/performance.md")
    print("\n".join(["missed targets:", *missed]) if missed else "all targets are met")


if __name__ == "__main__":
    main()
