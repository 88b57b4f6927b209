"""Files of [network] as text, and why one cannot be read."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pmgt_mpi.errors import UserError

LONGEST = 1 << 24
"""Characters of a line: a row of a dense W of a million agents has fewer."""


def text_lines(path: Path) -> Iterable[tuple[int, str]]:
    """Number and text of each line of a file, from 1."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            lines = iter(lambda: file.readline(LONGEST), "")
            for number, line in enumerate(lines, start=1):
                if len(line) == LONGEST:
                    raise UserError(
                        f"{path}: line {number} has {LONGEST:,} characters or more; "
                        "expected one edge, or one row of W, a line"
                    )
                yield number, line
    except OSError as error:
        raise unreadable(path, error) from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not a text file; expected UTF-8 text") from error


def unreadable(path: Path, error: OSError) -> UserError:
    """Say that the file cannot be read, and why."""
    reason = error.strerror or error
    return UserError(f"{path}: cannot be read: {reason}; check the path in [network]")
