"""What can go wrong, as exceptions that carry a sentence for the user."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class UserError(Exception):
    """Wrong input. Told once, by rank 0, without a traceback; exit code 2.

    The message says what is wrong, where (file and key, or file and row), what was
    expected, and what to do.
    """

    exit_code = 2


class DiskError(UserError):
    """A file of the run folder could not be written; exit code 1.

    The message says which, why, and how to continue when the disk is well again.
    """

    exit_code = 1


def shortened(
    value: object, length: int = 60, written: Callable[[Any], str] = str
) -> str:
    """Return what a file or a config has as a message can hold it."""
    try:
        text = written(value)
    except ValueError:  # Python writes out no more than 4300 digits
        text = "a number of thousands of digits"
    return text if len(text) <= length else f"{text[: length - 1]}…"
