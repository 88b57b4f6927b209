"""Packed files (.gz, .bz2, .xz): converted once per host, into the cache."""

from __future__ import annotations

import hashlib
import importlib
import json
import logging
import os
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

from pmgt_mpi.cache import cache_folder, is_own, own_folder
from pmgt_mpi.data.files import check_same, reading, stamp
from pmgt_mpi.data.source import LineError
from pmgt_mpi.errors import UserError
from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.replacing import replacing

PACKERS = {".gz": "gzip", ".bz2": "bz2", ".xz": "lzma"}
"""Endings, and the modules of the standard library that unpack them."""

UNPACKERS = {".bz2": "BZ2Decompressor", ".xz": "LZMADecompressor"}
"""What unpacks one stream, in those modules."""

CHUNK_BYTES = 1 << 16
"""Of a packed file, read at once."""

FORMAT = 2
"""Version of what is written to the cache; a new one leaves the old entries alone."""

COMPLETE = "complete.json"
"""Written last; without it an entry does not exist. It says what the entry was made of,
and has the checksum of each of its files."""

log = logging.getLogger(__name__)


def is_packed(path: str) -> bool:
    """Whether a path ends like that of a packed file."""
    return Path(path).suffix in PACKERS


class Archive:
    """A packed file, unpacked as it is read; what is wrong with it is the user's."""

    def __init__(self, path: Path) -> None:
        name = PACKERS[path.suffix]
        try:
            packer = importlib.import_module(name)
        except ImportError as error:
            raise UserError(
                f"this Python was built without {name}, so {path} cannot be read; "
                "unpack it first, or pack it as .gz"
            ) from error
        self._path = path
        with reading(path):
            self._file = path.open("rb")
        self._stream = (
            packer.open(self._file)
            if path.suffix == ".gz"
            else Streams(self._file, getattr(packer, UNPACKERS[path.suffix]))
        )
        own_error = getattr(packer, "LZMAError", zlib.error)
        self._errors = (EOFError, OSError, zlib.error, own_error)

    def read(self, size: int, /) -> bytes:
        """Read up to so many bytes of what was packed."""
        try:
            return self._stream.read(size)
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


class Streams:
    """What is in a .bz2 or .xz file, of one stream or of several.

    The readers of the standard library take a later stream that is damaged for the end
    of the file, and leave it out without a word.

    Parameters
    ----------
    file
        What is packed.
    new
        Returns an unpacker for one stream.
    """

    def __init__(self, file: BinaryIO, new: Callable[[], Any]) -> None:
        self._file = file
        self._new = new
        self._unpacker = new()

    def read(self, size: int) -> bytes:
        """Read so many bytes of what was packed; fewer at the end."""
        parts: list[bytes] = []
        while size and (part := self._some(size)):
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def _some(self, size: int) -> bytes:
        """Unpack up to so many bytes, but at least one; none at the end."""
        data = packed = b""
        while not data:
            if self._unpacker.eof:
                packed = self._unpacker.unused_data.lstrip(b"\0")
                while not packed:  # zeros may lie between streams
                    more = self._file.read(CHUNK_BYTES)
                    if not more:
                        return b""
                    packed = more.lstrip(b"\0")
                self._unpacker = self._new()
            elif self._unpacker.needs_input:
                packed = self._file.read(CHUNK_BYTES)
                if not packed:
                    raise EOFError("it ends in the middle")
            data = self._unpacker.decompress(packed, size)
            packed = b""
        return data


Convert = Callable[[Path, Path], Iterable[str]]
"""Unpack a file (first) into files of a folder (second); returns their names."""


def unpacked(
    collective: Collective,
    path: Path,
    options: dict[str, Any],
    convert: Convert,
    *,
    private: bool,
) -> Path:
    """Return the folder with what a packed file was converted to; collective.

    One agent of each host makes it if it is not there, and else sees that it is still
    what was written; every agent does where each has a file of its own. It is found
    again by the path, size and time of the file and all that the conversion depends on.

    Parameters
    ----------
    options
        What the conversion depends on apart from the file.
    private
        Whether the file is this agent's own.
    """
    with collective.agreed(), reading(path):
        size, modified = stamp(path)
    made_of = {
        "path": str(path.resolve()),
        "size": size,
        "modified": modified,
        "format": FORMAT,
        **options,
    }
    key = hashlib.blake2b(json.dumps(made_of, sort_keys=True).encode(), digest_size=8)
    name = f"{path.name[:50]}-{key.hexdigest()}"
    folder = cache_folder() / "data" / name

    hosts = collective.gather(host())
    seen, problem = None, None
    if private or hosts.index(hosts[collective.agent]) == collective.agent:
        try:
            seen = make(path, name, made_of, convert)
        except UserError as error:
            problem = error
    collective.wait_quietly()
    checked = set(collective.gather(seen)) - {None}
    with collective.agreed():
        if problem is not None:
            raise problem
    with collective.agreed():
        # Two machines of one name, or two containers: this one's cache is another.
        if mark(folder) not in checked:
            make(path, name, made_of, convert)
    return folder


Mark = tuple[int, int] | None
"""What tells one COMPLETE from another; None where there is none."""


def mark(folder: Path) -> Mark:
    """Return the mark of an entry."""
    try:
        status = (folder / COMPLETE).stat()
    except OSError:
        return None
    return status.st_ino, status.st_mtime_ns


def make(path: Path, name: str, made_of: dict[str, Any], convert: Convert) -> Mark:
    """Convert a packed file unless that has been done; jobs may do it at once."""
    folder = cache_folder() / "data" / name
    try:
        own_folder("data", name)
        if (folder / COMPLETE).exists():
            if is_intact(folder, made_of):
                return mark(folder)
            log.warning(
                "%s is not as it was written, or others may write to it; unpacking %s "
                "again",
                folder,
                path,
            )
        else:
            log.info("unpacking %s into %s, once", path, folder)
        files = {}
        for file in convert(path, folder):
            (folder / file).chmod(0o600)
            files[file] = checksum(folder / file)
        check_same(path, (made_of["size"], made_of["modified"]), path)
        with replacing(folder / COMPLETE) as temporary:
            text = json.dumps({**made_of, "files": files}, indent=2)
            temporary.write_text(text + "\n")
            temporary.chmod(0o600)
    except LineError as error:
        raise UserError(f"{path}, line {error.line}: {error.what}") from error
    except OSError as error:
        raise UserError(
            f"cannot unpack {path} into {folder} ({error.strerror or error}); "
            "set PMGT_CACHE to a folder with room"
        ) from error
    return mark(folder)


def files_of(folder: Path) -> list[str]:
    """Return the names of the files of an entry; nothing else in its folder counts."""
    return list(json.loads((folder / COMPLETE).read_text())["files"])


def is_intact(folder: Path, made_of: dict[str, Any]) -> bool:
    """Whether an entry is made of this, by this user, and still what was written."""
    try:
        if not is_own(folder / COMPLETE):
            return False
        stored = json.loads((folder / COMPLETE).read_text())
        files = stored.pop("files")
        return stored == made_of and all(
            is_own(folder / name) and checksum(folder / name) == digest
            for name, digest in files.items()
        )
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return False  # something else than what is written here, or a broken disk


def checksum(path: Path) -> str:
    """Read all of a file, for a checksum."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "blake2b").hexdigest()


def host() -> tuple[str, str]:
    """Return the name of this machine and what tells it from another of that name."""
    boot = Path("/proc/sys/kernel/random/boot_id")
    return os.uname().nodename, boot.read_text() if boot.exists() else ""
