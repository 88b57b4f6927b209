"""Replacing a file as a whole: it is written beside its place, synced and renamed.

So are checkpoints, results, pictures, and what lies in the cache.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Return a temporary name to write to; sync it and rename it to `path` at the end.

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
