"""Looking into a run folder that another user, or another version, may have written.

What may not be read is refused and not taken for missing, no name leads out of it, and
nobody waits at a pipe.
"""

from __future__ import annotations

import errno
import json
import os
import stat
from pathlib import Path

from pmgt_mpi.errors import UserError

SCHEMA = 2
"""Version of the folder's layout; it grows when a reader would have to change."""


def read_plain(path: Path) -> bytes:
    """Read a file; an `OSError` if it is none, as a pipe, which would never end."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    with open(descriptor, "rb") as file:  # noqa: PTH123 (it is open)
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is no plain file", str(path))
        return file.read()


def refuse_schema(folder: Path) -> None:
    """Refuse the folder of another version, which is left as it is."""
    meta = folder / "meta.json"
    try:
        schema = json.loads(read_plain(meta))["schema"] if is_there(meta) else None
    except OSError as error:
        raise unreadable(meta, error) from None
    except (ValueError, LookupError, TypeError, RecursionError):
        schema = None
    if schema is None:
        # Before the first step there is no meta.json, and before 0.2 no asked.toml.
        old = is_there(folder / "config.toml") and not is_there(folder / "asked.toml")
        schema = 1 if old else SCHEMA
    if schema != SCHEMA:
        raise UserError(
            f"{folder} was written by another version of pmgt_mpi (schema {schema}, "
            f"and this one reads {SCHEMA}); use that version for it, or make the run "
            "again with another --out"
        )


def refuse_links(folder: Path) -> None:
    """Refuse a run folder in which a name leads elsewhere, or to no file at all.

    Another user may write to a shared folder; what is cut off, replaced or removed here
    must lie here. The folder itself may be reached through a link.
    """
    try:
        for parent, folders, files in os.walk(folder, onerror=_raise):
            for name in (*folders, *files):
                path = Path(parent) / name
                kind = stat.S_IFMT(path.lstat().st_mode)
                if kind not in (stat.S_IFREG, stat.S_IFDIR):
                    raise no_plain_file(path)
    except OSError as error:
        raise unreadable(Path(error.filename), error) from None


def _raise(error: OSError) -> None:
    raise error


def names_in(folder: Path) -> list[str]:
    """Names of what a folder holds; of one that is not there, none.

    A glob says of one that may not be read that it is empty.
    """
    try:
        return [path.name for path in folder.iterdir()]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise unreadable(folder, error) from None


def is_there(path: Path) -> bool:
    """Whether a name is there; what may not be looked at is refused, not missing."""
    try:
        path.lstat()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise unreadable(path, error) from None
    return True


def unreadable(path: Path, error: OSError) -> UserError:
    """Say that a file or folder of a run cannot be read: it may well be whole."""
    return UserError(
        f"{path} cannot be read: {error.strerror}; let the user of this job read it, "
        "or start a new run with another --out"
    )


def no_plain_file(path: Path) -> UserError:
    """Say that a name leads elsewhere."""
    return UserError(
        f"{path} is a link, or no plain file, and would lead out of the run folder; "
        "put the file itself there, or start a new run with another --out"
    )
