"""The manifest of a checkpoint: what it consists of, and what it is a checkpoint of.

It is written last, and holds the checksums of the other files and its own: without it
there is no checkpoint.
"""

from __future__ import annotations

import hashlib
import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from pmgt_mpi.checkpoints.statefile import DamagedError, Numbers, Seal
from pmgt_mpi.errors import UserError
from pmgt_mpi.output.looking import unreadable
from pmgt_mpi.replacing import replacing

SCHEMA = 2
"""Version of the layout; a checkpoint of another one is refused."""

MANIFEST = "manifest.json"


class Manifest(NamedTuple):
    """What a checkpoint consists of, and what it is a checkpoint of.

    Attributes
    ----------
    number
        Of the checkpoint; later ones have higher numbers.
    algorithm, step
        Position in the list of algorithms, and the steps that it has done.
    metrics
        Length and checksum of metrics.jsonl at that moment.
    agents, finished
        Seals of the agents' files, and of those of algorithms that are done.
    facts
        What a run that continues must have in common with this one.
    machines
        CPU and libraries of every agent: others may give other last bits.
    """

    number: int
    algorithm: int
    step: int
    metrics: tuple[int, str]
    agents: list[Seal]
    finished: list[Seal]
    facts: Numbers
    machines: list[Numbers]

    def write(self, folder: Path) -> None:
        """Write the manifest into the checkpoint's folder."""
        content = {
            "schema": SCHEMA,
            "written": datetime.now(UTC).isoformat(timespec="seconds"),
            "number": self.number,
            "algorithm": self.algorithm,
            "step": self.step,
            "metrics": list(self.metrics),
            "agents": [seal.plain() for seal in self.agents],
            "finished": [seal.plain() for seal in self.finished],
            "facts": self.facts,
            "machines": self.machines,
        }
        sealed = {"content": content, "blake2b": _digest(content)}
        with replacing(folder / MANIFEST) as part:
            part.write_text(json.dumps(sealed, indent=1))
        sync_folder(folder)

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """Read the manifest of a checkpoint.

        Raises
        ------
        DamagedError
            If it is not what was written.
        UserError
            If it may not be read, or another version has written it.
        """
        path = folder / MANIFEST
        damaged = DamagedError(f"{path} is not what was written")
        try:
            sealed = json.loads(path.read_bytes())
            content, digest = sealed["content"], sealed["blake2b"]
            whole = digest == _digest(content)
            schema = content["schema"]
        except OSError as error:
            raise unreadable(path, error) from None
        except (ValueError, LookupError, TypeError, RecursionError):
            raise damaged from None
        if whole and schema != SCHEMA:
            raise UserError(
                f"{path} was written by another version of pmgt_mpi (layout {schema}, "
                f"and this one reads {SCHEMA}); continue with that version, or start a "
                "new run with another --out"
            )
        try:
            if not whole or content["number"] != int(folder.name):
                raise damaged
            manifest = cls(
                number=content["number"],
                algorithm=content["algorithm"],
                step=content["step"],
                metrics=(content["metrics"][0], content["metrics"][1]),
                agents=[Seal(**seal) for seal in content["agents"]],
                finished=[Seal(**seal) for seal in content["finished"]],
                facts=content["facts"],
                machines=content["machines"],
            )
            manifest._check_kinds()
        except (ValueError, LookupError, TypeError):
            raise damaged from None
        return manifest

    def _check_kinds(self) -> None:
        """Raise a `TypeError` unless every part is of its kind, as all that is written.

        Whoever may write to a shared folder can give anything the right checksum.
        """
        counts = [self.number, self.algorithm, self.step, self.metrics[0]]
        counts += [self.facts["agents"], *(one.bytes for one in self.agents)]
        names = [one.file for one in (*self.agents, *self.finished)]
        if not (
            all(type(n) is int and n >= 0 for n in counts)
            and all(isinstance(name, str) for name in names)
            and all(isinstance(one, dict) for one in (self.facts, *self.machines))
        ):
            raise TypeError


def _digest(content: Any) -> str:
    text = json.dumps(content, sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def sync_folder(folder: Path) -> None:
    """Put the names of a folder's files on the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
