"""Paths in a config: made absolute, so that it means the same in another folder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pmgt_mpi.config.sections import DataSection
from pmgt_mpi.data.files import own_path
from pmgt_mpi.errors import UserError


def with_files_found(data: DataSection, folder: str) -> DataSection:
    """Make the paths of a source that reads files absolute, where they lead to one."""
    paths = {
        key: found(data.options[key], folder)
        for key in ("path", "labels")
        if isinstance(data.options.get(key), str)
    }
    return replace(data, options={**data.options, **paths})


def found(path: str, folder: str) -> str:
    """Make a path absolute if it leads somewhere from the config's folder.

    So the config means the same when it is written to another folder. In one whose name
    is no text it stays as it is: no config can hold that name.
    """
    try:
        beside = Path(folder) / Path(path).expanduser()
        there = Path(own_path(str(beside), 0)).exists()  # of {agent}, the first's
    except (OSError, ValueError, RuntimeError, UserError):
        return path  # whoever reads the file says what is wrong with it
    return str(beside) if there and is_text(str(beside)) else path


def is_text(text: str) -> bool:
    """Whether a command's argument, or the name of a file, is text in UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
