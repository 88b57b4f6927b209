"""Packed files (.gz, .bz2, .xz): converted once per host, into the cache."""

from __future__ import annotations

import hashlib
import importlib
import json
import logging
import os
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from pmgt_mpi.cache import cache_folder, replacing
from pmgt_mpi.collective import Collective
from pmgt_mpi.data.source import LineError
from pmgt_mpi.errors import UserError

PACKERS = {".gz": "gzip", ".bz2": "bz2", ".xz": "lzma"}
"""Endings, and the modules of the standard library that unpack them."""

FORMAT = 1
"""Version of what is written to the cache; a new one leaves the old entries alone."""

COMPLETE = "complete.json"
"""Written last; without it an entry does not exist. Says what the entry was made of."""

log = logging.getLogger(__name__)


def is_packed(path: str) -> bool:
    """Whether a path ends like that of a packed file."""
    return Path(path).suffix in PACKERS


class Archive:
    """A packed file, unpacked as it is read; what is wrong with it is the user's."""

    def __init__(self, path: Path) -> None:
        packer = importlib.import_module(PACKERS[path.suffix])
        self._path = path
        self._file = packer.open(path, "rb")
        own_error = getattr(packer, "LZMAError", zlib.error)
        self._errors = (EOFError, OSError, zlib.error, own_error)

    def read(self, size: int, /) -> bytes:
        """Read up to so many bytes of what was packed."""
        try:
            return self._file.read(size)  # type: ignore[no-any-return]
        except self._errors as error:
            raise UserError(
                f"{self._path} is broken or not a {self._path.suffix} file "
                f"({error}); fetch or pack it again"
            ) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()


Convert = Callable[[Path, Path], None]
"""Unpack a file (first) into the arrays of a folder (second)."""


def unpacked(
    collective: Collective,
    path: Path,
    options: dict[str, Any],
    convert: Convert,
    *,
    private: bool,
) -> Path:
    """Give the folder with what a packed file was converted to, on all agents together.

    One agent of each host makes it if it is not there; every agent does where each has
    a file of its own. It is found again by the path, size and time of the file and all
    that the conversion depends on.

    Parameters
    ----------
    options
        What the conversion depends on apart from the file.
    private
        Whether the file is this agent's own.
    """
    status = path.stat()
    made_of = {
        "path": str(path.resolve()),
        "size": status.st_size,
        "modified": status.st_mtime_ns,
        "format": FORMAT,
        **options,
    }
    key = hashlib.blake2b(json.dumps(made_of, sort_keys=True).encode(), digest_size=8)
    folder = cache_folder() / "data" / f"{path.name}-{key.hexdigest()}"

    hosts = collective.gather(host())
    problem: UserError | None = None
    if private or hosts.index(hosts[collective.agent]) == collective.agent:
        try:
            make(path, folder, made_of, convert)
        except UserError as error:
            problem = error
    wait_idle(collective)
    with collective.agreed():
        if problem is not None:
            raise problem
    with collective.agreed():
        # Two machines of one name, or two containers: this one's cache is another.
        make(path, folder, made_of, convert)
    return folder


def make(path: Path, folder: Path, made_of: dict[str, Any], convert: Convert) -> None:
    """Convert a packed file unless that has been done; jobs may do it at once."""
    if (folder / COMPLETE).exists():
        return
    log.info("unpacking %s into %s, once", path, folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        convert(path, folder)
        with replacing(folder / COMPLETE) as temporary:
            temporary.write_text(json.dumps(made_of, indent=2) + "\n")
    except LineError as error:
        raise UserError(f"{path}, line {error.line}: {error.what}") from error
    except OSError as error:
        raise UserError(
            f"cannot unpack {path} into {folder} ({error.strerror or error}); "
            "set PMGT_CACHE to a folder with room"
        ) from error


def host() -> tuple[str, str]:
    """Give the name of this machine and what tells it from another of that name."""
    boot = Path("/proc/sys/kernel/random/boot_id")
    return os.uname().nodename, boot.read_text() if boot.exists() else ""


def wait_idle(collective: Collective) -> None:
    """Wait until all agents are here, asleep: the one at work may need this core."""
    request = collective.comm.Ibarrier()
    while not request.Test():
        time.sleep(0.005)
