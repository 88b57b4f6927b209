"""The folder for what is costly to make again: unpacked data, reference minimisers."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def cache_folder() -> Path:
    """PMGT_CACHE, else pmgt_mpi in the user's cache folder; not necessarily there."""
    if named := os.environ.get("PMGT_CACHE"):
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME")
    if base:
        return Path(base) / "pmgt_mpi"
    try:
        return Path.home() / ".cache" / "pmgt_mpi"
    except RuntimeError:  # a user without a home, as in some containers
        import tempfile

        return Path(tempfile.gettempdir()) / f"pmgt_mpi-{os.getuid()}"


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a temporary name to write to; sync it and rename it to `path` at the end.

    A reader sees the old file, the new one or none, never a part, even if two jobs
    write at once or one is killed.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.uname().nodename}.{os.getpid()}.part")
    try:
        yield temporary
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
