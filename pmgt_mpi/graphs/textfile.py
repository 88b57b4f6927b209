"""Files of [network] as text, and why one cannot be read."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pmgt_mpi.errors import UserError


def text_lines(path: Path) -> Iterable[tuple[int, str]]:
    """Number and text of each line of a file, from 1."""
    try:
        with path.open(encoding="utf-8") as file:
            yield from enumerate(file, start=1)
    except OSError as error:
        raise unreadable(path, error) from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not a text file; expected UTF-8 text") from error


def unreadable(path: Path, error: OSError) -> UserError:
    """Say that the file cannot be read, and why."""
    reason = error.strerror or error
    return UserError(f"{path}: cannot be read: {reason}; check the path in [network]")
