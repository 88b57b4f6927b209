"""An environment with the other MPI: MPICH's wheel beside the packages of the tests."""

from __future__ import annotations

import fcntl
import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests import launcher

MPI4PY = f"mpi4py=={version('mpi4py')}"
LIMIT = 90
"""Seconds for the installation."""


def make_environment(folder: Path, mpich: str) -> Path:
    """Make a virtual environment with this MPICH in the folder, once; give it.

    It has mpi4py and MPICH of its own, as mpi4py looks for MPI's library in its
    environment, and everything else from the environment of the tests. Skips the test
    where the two cannot be installed.
    """
    environment = folder / "environment"
    done = folder / "done"
    wanted = "\n".join((MPI4PY, mpich, sys.executable, sys.version))
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists() or done.read_text() != wanted:
            done.unlink(missing_ok=True)
            shutil.rmtree(environment, ignore_errors=True)
            _install(environment, mpich)
            done.write_text(wanted)
    return environment


def _install(environment: Path, mpich: str) -> None:
    _run([sys.executable, "-m", "venv", "--without-pip", environment])
    python = environment / "bin" / "python"
    if find_spec("pip") is not None:
        pip = [sys.executable, "-m", "pip", "--python", python, "install"]
        pip += ["--disable-pip-version-check", "--retries", "0"]
    elif found := shutil.which("uv"):
        pip = [found, "pip", "install", "--python", python]
    else:
        pytest.skip("neither pip nor uv, to install MPICH")
    _run([*pip, "--quiet", "--only-binary", ":all:", MPI4PY, mpich])
    (own,) = environment.glob("lib/python*/site-packages")
    shared = (path for path in sys.path if path.endswith("-packages"))
    (own / "shared.pth").write_text("\n".join(shared))


def _run(command: Sequence[str | Path]) -> None:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=LIMIT, check=False
        )
        said = "" if done.returncode == 0 else done.stderr.strip() or "it says nothing"
    except (OSError, subprocess.TimeoutExpired) as error:
        said = str(error)
    if said:
        pytest.skip(f"MPICH's wheel cannot be installed: {said.splitlines()[-1]}")


def mpirun(environment: Path, ranks: int, args: Sequence[str | Path], **options):
    """Run the environment's Python on MPICH ranks; else as `launcher.mpirun`."""
    launcher.started_by.add(launcher.current_test())
    programs = environment / "bin"
    command = [programs / "mpirun", "-n", ranks, programs / "python", *args]
    path = {"PYTHONPATH": str(launcher.ROOT), **options.pop("env", {})}
    return launcher.run([str(word) for word in command], env=path, **options)
