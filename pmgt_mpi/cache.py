"""The folder for what is costly to make again: unpacked data, reference minimisers.

What is read from it decides what a run finds, so nothing is believed that another user
could have written.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from stat import S_IMODE, S_ISREG, S_IWGRP, S_IWOTH

from pmgt_mpi.errors import UserError

OTHERS_WRITE = S_IWGRP | S_IWOTH


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


def own_folder(*names: str) -> Path:
    """Return a folder of the cache where only this user can write; make it if needed.

    So it is with every folder from the cache's own down to it: one that belongs to
    another user is refused, and of the user's own ones the right of others to write is
    taken away.

    Parameters
    ----------
    names
        The way to it from the cache's own folder.
    """
    folder = cache_folder()
    if not folder.parent.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
    for name in ("", *names):
        folder /= name
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        for status in (folder.lstat(), folder.stat()):  # of a link, and behind it
            if status.st_uid != os.getuid():
                raise UserError(
                    f"{folder} belongs to another user (number {status.st_uid}), so "
                    "what lies there cannot be trusted; set PMGT_CACHE to a folder of "
                    "your own"
                )
        if status.st_mode & OTHERS_WRITE:
            _close(folder, S_IMODE(status.st_mode) & ~OTHERS_WRITE)
    return folder


def _close(folder: Path, mode: int) -> None:
    """Take from others the right to write to a folder."""
    import logging  # seldom needed, and this module is imported by every rank

    folder.chmod(mode)
    if folder.stat().st_mode & OTHERS_WRITE:
        raise UserError(
            f"others may write to {folder}, and its file system does not let that be "
            "changed; set PMGT_CACHE to a folder on another one"
        )
    logging.getLogger(__name__).warning(
        "others could write to %s; as it is a cache, they no longer can", folder
    )


def is_own(path: Path) -> bool:
    """Whether this is a file of the user's, and no link, that no other may write to."""
    status = path.lstat()
    closed = S_ISREG(status.st_mode) and not status.st_mode & OTHERS_WRITE
    return closed and status.st_uid == os.getuid()
