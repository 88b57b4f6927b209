"""The run folder: what a run leaves behind, written by agent 0 alone.

Every rank imports this module: what a file is written with is imported when it is.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import io
import json
import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from pmgt_mpi.errors import DiskError, UserError
from pmgt_mpi.output.looking import no_plain_file, refuse_links
from pmgt_mpi.replacing import replacing

CHUNK = 1 << 20
"""Bytes of metrics.jsonl, which has any length, that are read at once."""


class RunFolder:
    """The folder of one run, which belongs to this process as long as it is open.

    Its file of lines is locked: a second run in the same folder is refused, and the
    lock goes with the process, however that ends.

    A run that is resumed may be refused until its first state is there, and a refusal
    changes no file: what is to be written, cut off or removed waits for `take_up`.

    Parameters
    ----------
    path
        Where it is to be.
    reopen
        Whether it is there already and the run in it continues; otherwise it must not
        exist.
    """

    LINES: ClassVar[str] = "metrics.jsonl"
    """The file to which lines are added."""

    AGAIN: ClassVar[str] = "--resume {path}"
    """How what was begun in the folder is continued."""

    def __init__(self, path: Path, *, reopen: bool = False) -> None:
        self.path = path
        self._held: list[Callable[[], None]] | None = [] if reopen else None
        try:
            if not reopen:
                path.mkdir(parents=True)
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
            self._metrics = os.open(path / self.LINES, flags, 0o666)
        except FileExistsError:
            raise UserError(
                f"the run folder {path} exists already; choose another with --out, "
                f"remove it, or resume the run in it with --resume {path}"
            ) from None
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise no_plain_file(path / self.LINES) from None
            action = "open" if reopen else "make"
            raise UserError(
                f"cannot {action} the run folder {path}: {error.strerror}; choose "
                "another with --out"
            ) from None
        self._lock()
        if reopen:
            refuse_links(path)

    def _lock(self) -> None:
        try:
            fcntl.flock(self._metrics, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.close()
            raise UserError(
                f"another run is at work in the run folder {self.path}; wait for its "
                "end, or choose another folder with --out"
            ) from None
        except OSError as error:
            # Some file systems of clusters have no locks: that is no reason to stop.
            if error.errno not in (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP):
                raise

    def record(self, record: dict[str, Any]) -> None:
        """Add a line, whole or not at all; a killed run keeps it."""
        line = (json.dumps(finite(record)) + "\n").encode()
        length = os.fstat(self._metrics).st_size
        with self._writing(self.LINES):
            try:
                written = os.write(self._metrics, line)
                if written < len(line):  # the disk is full: a second try says so
                    os.write(self._metrics, line[written:])
            except OSError:
                os.ftruncate(self._metrics, length)
                raise

    def sync_metrics(self) -> int:
        """Put the lines on the disk; return their length."""
        with self._writing(self.LINES):
            os.fsync(self._metrics)
        return os.fstat(self._metrics).st_size

    def metrics_digest(self, length: int) -> str | None:
        """Checksum of the first bytes of the lines; None if there are fewer."""
        digest, place = hashlib.blake2b(digest_size=16), 0
        while place < length:
            part = os.pread(self._metrics, min(CHUNK, length - place), place)
            if not part:
                return None
            digest.update(part)
            place += len(part)
        return digest.hexdigest()

    def take_up(self) -> None:
        """Change what was held back: a run that is resumed is not refused any more."""
        held, self._held = self._held or [], None
        for change in held:
            change()

    def _change(self, name: str, change: Callable[[], None]) -> None:
        """Change a file of this name, at once or in `take_up`."""

        def told() -> None:
            with self._writing(name):
                change()

        if self._held is None:
            told()
        else:
            self._held.append(told)

    def cut_metrics(self, length: int) -> None:
        """Cut the lines back to their first bytes."""
        self._change(self.LINES, lambda: os.ftruncate(self._metrics, length))

    def forget_summary(self) -> None:
        """Remove summary.json: where it is, a run has ended."""
        file = self.path / "summary.json"
        self._change("summary.json", lambda: file.unlink(missing_ok=True))

    def write_json(self, name: str, content: Any) -> None:
        """Write a JSON file in one piece."""
        text = json.dumps(finite(content), indent=2, ensure_ascii=False)
        # Of a path that is no text in this locale JSON writes out the halves of signs.
        self._replace(name, (text + "\n").encode(errors="backslashreplace"))

    def write_toml(self, name: str, content: dict[str, Any]) -> None:
        """Write a TOML file in one piece."""
        import tomli_w

        self._replace(name, tomli_w.dumps(content).encode())

    def write_text(self, name: str, text: str) -> None:
        """Write a text file in one piece."""
        self._replace(name, text.encode(errors="backslashreplace"))

    def write_csv(self, name: str, rows: list[dict[str, Any]]) -> None:
        """Write a table with a header, in one piece."""
        import csv

        text = io.StringIO(newline="")
        writer = csv.DictWriter(text, rows[0])
        writer.writeheader()
        writer.writerows(rows)
        self._replace(name, text.getvalue().encode())

    def write_solutions(self, solutions: dict[str, Any]) -> None:
        """Write the arrays of solution.npz, in one piece."""
        import zipfile

        # As numpy.savez does it, whose own parameters' names no array could have.
        with (
            self._writing("solution.npz"),
            replacing(self.path / "solution.npz") as part,
            zipfile.ZipFile(part, "w") as archive,
        ):
            for name, array in solutions.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                    np.lib.format.write_array(file, array, allow_pickle=False)

    def close(self) -> None:
        """Finish the lines, and let others have the folder."""
        os.close(self._metrics)

    def _replace(self, name: str, content: bytes) -> None:
        def write() -> None:
            with replacing(self.path / name) as part:
                part.write_bytes(content)

        self._change(name, write)

    @contextmanager
    def _writing(self, name: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise cannot_write(self.path, name, error, self.AGAIN) from None


def cannot_write(
    folder: Path, name: str, error: OSError, again: str = RunFolder.AGAIN
) -> DiskError:
    """Say which file of a run folder could not be written, and what to do."""
    return DiskError(
        f"cannot write {folder / name}: {error.strerror}; what was written before is "
        "safe: when the disk can be written again, continue with "
        + again.format(path=folder)
    )


def default_path(name: str) -> Path:
    """runs/NAME-DATE-TIME below the current folder, with a number if that is taken."""
    stamp = datetime.now(UTC).astimezone().strftime("%Y%m%d-%H%M%S")
    base = Path("runs") / f"{name}-{stamp}"
    path, number = base, 1
    while os.path.lexists(path):
        number += 1
        path = base.with_name(f"{base.name}-{number}")
    return path


def finite(value: Any) -> Any:
    """Return the same with None for what JSON cannot hold: infinities and NaN."""
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    if isinstance(value, float | np.floating):
        return float(value) if math.isfinite(value) else None
    return value
