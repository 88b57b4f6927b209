"""Environments with other MPIs, beside the packages of the tests."""

from __future__ import annotations

import fcntl
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from tests import launcher

MPI4PY = f"mpi4py=={version('mpi4py')}"
LIMIT = 90
"""Seconds for a command of the installation."""


class InstallError(Exception):
    """Something cannot be installed here; the message says what, and why."""


def make_environment(folder: Path, *packages: str) -> Path:
    """Make a virtual environment with these packages in the folder, once; give it.

    It has mpi4py and an MPI of its own, as mpi4py looks for MPI's library in its
    environment, and everything else from the environment of the tests.
    """
    folder.mkdir(parents=True, exist_ok=True)
    environment = folder / "environment"
    done = folder / "done"
    wanted = "\n".join((MPI4PY, *packages, sys.executable, sys.version))
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists() or done.read_text() != wanted:
            done.unlink(missing_ok=True)
            shutil.rmtree(environment, ignore_errors=True)
            run([sys.executable, "-m", "venv", "--without-pip", environment])
            install(environment, MPI4PY, *packages)
            (own,) = environment.glob("lib/python*/site-packages")
            shared = (path for path in sys.path if path.endswith("-packages"))
            (own / "shared.pth").write_text("\n".join(shared))
            done.write_text(wanted)
    return environment


def install(environment: Path, *packages: str | Path) -> None:
    """Install wheels into an environment that has no pip of its own."""
    python = environment / "bin" / "python"
    if find_spec("pip") is not None:
        pip = [sys.executable, "-m", "pip", "--python", python, "install"]
        pip += ["--disable-pip-version-check", "--retries", "0"]
    elif found := shutil.which("uv"):
        pip = [found, "pip", "install", "--python", python]
    else:
        raise InstallError("neither pip nor uv")
    run([*pip, "--quiet", "--only-binary", ":all:", *packages])


def run(command: Sequence[str | Path]) -> str:
    """Run a command of the installation; give what it writes."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=LIMIT, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InstallError(str(error)) from None
    if done.returncode:
        said = done.stderr.strip() or f"{command[0]} fails and says nothing"
        raise InstallError(said.splitlines()[-1])
    return done.stdout


def mpirun(environment: Path, ranks: int, args: Sequence[str | Path], **options):
    """Run the environment's Python on ranks of its MPI; else as `launcher.mpirun`."""
    launcher.started_by.add(launcher.current_test())
    programs = environment / "bin"
    command = [programs / "mpirun", "-n", ranks, programs / "python", *args]
    path = {"PYTHONPATH": str(launcher.ROOT), **options.pop("env", {})}
    return launcher.run([str(word) for word in command], env=path, **options)
