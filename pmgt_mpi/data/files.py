"""Where the files of a data set are."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pmgt_mpi.errors import UserError

FILLABLE = re.compile(r"(?:[^{}]|\{\{|\}\}|\{agent(?::0[1-9][0-9]?d)?\})*")
"""Paths with the placeholder. Of other formats some would take all memory, as a width
of ten digits does; a brace as such is doubled."""


def is_private(path: str) -> bool:
    """Whether a path has the placeholder {agent}: each agent has a file of its own."""
    return "{agent" in path


def own_path(path: str, agent: int) -> str:
    """Put the agent's id, counted from 0, in the place of {agent}, or of {agent:03d}.

    A path without the placeholder may hold any braces.
    """
    if not is_private(path):
        return path
    if not FILLABLE.fullmatch(path):
        raise UserError(
            f"path '{path}' cannot be filled in; the only placeholder is {{agent}}, or "
            "{agent:03d} with leading zeros, of up to 99 digits"
        )
    return path.format(agent=agent)


def find_file(path: str, base: Path | None) -> Path:
    """Find a file from the folder of the config, then from that in PMGT_DATA.

    Parameters
    ----------
    path
        Absolute (``~`` is the home folder), or relative to those folders.
    base
        Folder of the config; None is the current folder.
    """
    try:
        wanted = Path(path).expanduser()
    except RuntimeError as error:
        raise UserError(f"no home folder for '{path}'; correct the path") from error
    data = os.environ.get("PMGT_DATA")
    folders = [Path.cwd() if base is None else base.absolute()]
    if data and not wanted.is_absolute():
        folders.append(Path(data).absolute())
    for folder in folders:
        with reading(folder / wanted):
            there = (folder / wanted).is_file()
        if there:
            if not os.access(folder / wanted, os.R_OK):
                raise UserError(
                    f"no permission to read {folder / wanted}; "
                    "make it readable for the user of this job"
                )
            return folder / wanted
    if wanted.is_absolute():
        raise UserError(f"no file {wanted}; correct the path")
    advice = "" if data else ", or set PMGT_DATA to the folder of your data"
    raise UserError(
        f"no file '{path}' in {' or in '.join(map(str, folders))}; "
        f"correct the path{advice}"
    )


@contextmanager
def reading(name: object) -> Iterator[None]:
    """Tell in a sentence what the system says while a file is read.

    Parameters
    ----------
    name
        What to call the file.
    """
    try:
        yield
    except OSError as error:
        raise UserError(f"cannot read {name}: {error.strerror or error}") from error


Stamp = tuple[int, int]
"""Size of a file, and when it was changed."""


def stamp(path: Path) -> Stamp:
    """Return what tells whether a file has changed."""
    status = path.stat()
    return status.st_size, status.st_mtime_ns


def check_same(path: Path, before: Stamp, name: object) -> None:
    """Refuse a file that has changed since, so that parts of two states were read."""
    if stamp(path) != before:
        raise UserError(
            f"{name} has changed while it was read; start again when it is written"
        )
