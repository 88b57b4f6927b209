"""Plant faults one at a time, and see that each makes a test fail.

Usage: python scripts/mutants.py [--only WORD] [--sample N [--seed S]]

Every fault is one change of the text of one file, made in a copy of the repository. The
tests that should notice it are run there on real ranks; if they pass, the fault has
survived, and the exit code is 1. First the same tests are run without a fault.
"""

from __future__ import annotations

import argparse
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from scripts.faults import FAULTS, Fault  # noqa: E402
from tests.launcher import TimeLimitError, mpirun  # noqa: E402

LIMIT = 120
"""Seconds for the tests of one fault; a fault that makes ranks wait is cut off."""


def run_tests(folder: Path, tests: str, select: str, ranks: int) -> tuple[bool, str]:
    """Run tests in a copy of the repository; whether they pass, and the first error."""
    arguments = ["-m", "pytest", "--with-mpi", "-x", "-q", "--color=no", "--timeout=30"]
    arguments += [tests, *(["-k", select] if select else [])]
    try:
        result = mpirun(ranks, arguments, timeout=LIMIT, cwd=folder)
    except TimeLimitError:
        return False, "the ranks wait for each other"
    failed = [line for line in result.stdout.splitlines() if line.startswith("E  ")]
    return result.returncode == 0, failed[0][1:].strip() if failed else ""


def copy_repository(folder: Path) -> None:
    """Copy what the tests need."""
    for name in ("pmgt_mpi", "tests", "pyproject.toml"):
        source = ROOT / name
        if source.is_dir():
            ignore = shutil.ignore_patterns("__pycache__")
            shutil.copytree(source, folder / name, ignore=ignore)
        else:
            shutil.copy(source, folder / name)


def plant(fault: Fault, folder: Path) -> None:
    """Make the change of one fault in the copy."""
    text = (ROOT / fault.file).read_text()
    if text.count(fault.old) != 1:
        sys.exit(
            f"fault '{fault.name}': {fault.file} holds {text.count(fault.old)} times "
            f"the text {fault.old!r}; expected once"
        )
    (folder / fault.file).write_text(text.replace(fault.old, fault.new))
    build_engine(fault, folder)


def remove(fault: Fault, folder: Path) -> None:
    """Undo the change."""
    shutil.copy(ROOT / fault.file, folder / fault.file)
    build_engine(fault, folder)


def build_engine(fault: Fault, folder: Path) -> None:
    """Build the compiled engine of the copy again, if the fault is in its sources."""
    if "/engine/" in fault.file:
        command = [sys.executable, "-m", "pmgt_mpi.engine", "--build"]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="", help="faults whose name has this in it")
    parser.add_argument("--sample", type=int, metavar="N", help="some of them only")
    parser.add_argument("--seed", type=int, default=0, help="which of them")
    options = parser.parse_args()
    faults = [fault for fault in FAULTS if options.only in fault.name]
    if options.sample:
        faults = random.Random(options.seed).sample(faults, options.sample)
    survived = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "copy"
        copy_repository(folder)
        for tests, select, ranks in sorted(
            {(f.tests, f.select, f.ranks) for f in faults}
        ):
            passed, line = run_tests(folder, tests, select, ranks)
            if not passed:
                sys.exit(f"without a fault {tests} -k '{select}' fails: {line}")
        print("without a fault all tests pass", flush=True)
        for fault in faults:
            start = time.monotonic()
            plant(fault, folder)
            passed, line = run_tests(folder, fault.tests, fault.select, fault.ranks)
            remove(fault, folder)
            verdict = "SURVIVED" if passed else "caught"
            seconds = time.monotonic() - start
            told = f"{verdict:8} {seconds:5.1f} s  {fault.name}: {line[:90]}"
            print(told, flush=True)
            if passed:
                survived.append(fault.name)
    print(f"{len(faults) - len(survived)} of {len(faults)} faults caught")
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
