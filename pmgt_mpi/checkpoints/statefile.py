"""One file of a checkpoint: numbers and arrays, sealed with a checksum.

The file is a row of .npy streams, one after another: first the numbers, as JSON text in
an array of bytes, then the arrays that they name. Nothing in it is ever unpickled.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.errors import UserError
from pmgt_mpi.output.looking import unreadable
from pmgt_mpi.replacing import replacing

Array = NDArray[Any]
Numbers = dict[str, Any]
"""What JSON holds: numbers, words, lists and dicts of them."""

CHUNK = 1 << 20


class DamagedError(Exception):
    """A file of a checkpoint that is missing, or is not what was written."""


class Seal(NamedTuple):
    """By what a file is known again: its length and its checksum."""

    file: str
    bytes: int
    blake2b: str

    def plain(self) -> Numbers:
        """As a manifest holds it."""
        return self._asdict()


class _Sealing:
    """Passes what is written on to a file, and takes its checksum on the way."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._digest = hashlib.blake2b(digest_size=16)
        self._bytes = 0

    def write(self, data: Any) -> None:
        self._file.write(data)
        self._digest.update(data)
        self._bytes += len(data)

    def seal(self, name: str) -> Seal:
        return Seal(name, self._bytes, self._digest.hexdigest())


def write(path: Path, numbers: Numbers, arrays: dict[str, Array]) -> Seal:
    """Write a new file, synced and renamed; return its seal."""
    text = json.dumps({"numbers": numbers, "arrays": list(arrays)})
    with replacing(path) as part, part.open("wb") as file:
        sealing = _Sealing(file)
        for array in (np.frombuffer(text.encode(), np.uint8), *arrays.values()):
            np.lib.format.write_array(sealing, array, allow_pickle=False)
    return sealing.seal(path.name)


def read(folder: Path, seal: Seal) -> tuple[Numbers, dict[str, Array]]:
    """Read a file back, if it is what the seal says.

    Raises
    ------
    DamagedError
        If it is missing, cut short, or has other bits.
    UserError
        If it may not be read.
    """
    path = folder / seal.file
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size != seal.bytes:
                raise DamagedError(f"{path} has {size} bytes instead of {seal.bytes}")
            digest = hashlib.blake2b(digest_size=16)
            while chunk := file.read(CHUNK):
                digest.update(chunk)
            if digest.hexdigest() != seal.blake2b:
                raise DamagedError(f"{path} has another checksum than it was given")
            file.seek(0)
            content = json.loads(_array(file).tobytes())
            arrays = {name: _array(file) for name in content["arrays"]}
    except FileNotFoundError:
        raise DamagedError(f"{path} is missing") from None
    except OSError as error:
        raise unreadable(path, error) from None
    return content["numbers"], arrays


def _array(file: IO[bytes]) -> Array:
    array: Array = np.lib.format.read_array(file, allow_pickle=False)
    return array


def flatten(state: Any) -> tuple[Numbers, dict[str, Array]]:
    """Take a state apart into numbers and arrays; it may hold further states.

    Two fields that are one array stay one. A number of numpy's stays one of numpy's,
    since its type decides in which precision it is added to others.
    """
    arrays: dict[str, Array] = {}
    return _flatten(state, "", arrays, {}), arrays


def _flatten(
    state: Any, within: str, arrays: dict[str, Array], names: dict[int, str]
) -> Numbers:
    """Return the numbers of a state; `names` are those of its arrays, by identity."""
    if not is_dataclass(state) or isinstance(state, type):
        raise _no_state(type(state).__name__, "is not a dataclass")
    numbers: Numbers = {}
    for field in fields(state):
        path = within + field.name
        value = getattr(state, field.name)
        if isinstance(value, np.ndarray):
            if value.dtype.hasobject:
                fault = f"has Python objects in '{path}'"
                raise _no_state(type(state).__name__, fault)
            name = names.setdefault(id(value), path)
            arrays[name] = value
            numbers[field.name] = ["array", name]
        elif isinstance(value, np.generic):
            arrays[path] = np.asarray(value)
            numbers[field.name] = ["scalar", path]
        elif is_dataclass(value) and not isinstance(value, type):
            inner = _flatten(value, f"{path}.", arrays, names)
            numbers[field.name] = ["state", inner]
        elif value is None or isinstance(value, bool | int | float | str):
            numbers[field.name] = ["number", value]
        else:
            raise _no_state(
                type(state).__name__, f"has a {type(value).__name__} in '{path}'"
            )
    return numbers


def rebuild(like: Any, numbers: Numbers, arrays: dict[str, Array]) -> Any:
    """Put a state together again, of the kind that another is."""
    values = {}
    for field, (sort, value) in numbers.items():
        if sort == "array":
            values[field] = arrays[value]
        elif sort == "scalar":
            values[field] = arrays[value][()]
        elif sort == "state":
            values[field] = rebuild(getattr(like, field), value, arrays)
        else:
            values[field] = value
    return type(like)(**values)


def _no_state(kind: str, fault: str) -> UserError:
    return UserError(
        f"the algorithm's state {kind} {fault}, so no checkpoint can be written; a "
        "state is a dataclass of arrays and numbers"
    )
