"""The engine's functions, called through ctypes, which gives the GIL away meanwhile."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import Any

import numpy as np

from pmgt_mpi.engine import BuildError

SUFFIXES = {np.dtype(np.float64): "double", np.dtype(np.float32): "float"}
"""The types of number that the engine has functions for."""

Address = ctypes.c_void_p


class ExchangeStruct(ctypes.Structure):
    """exchange_t of kernels.c."""

    _fields_ = (
        ("isend", Address),
        ("irecv", Address),
        ("startall", Address),
        ("waitall", Address),
        ("comm", ctypes.c_ssize_t),
        ("datatype", ctypes.c_ssize_t),
        ("size", ctypes.c_int64),
        ("degree", ctypes.c_int32),
        ("persistent", ctypes.c_int32),
        ("neighbours", Address),
        ("requests", Address),
        ("request_bytes", ctypes.c_int64),
        ("statuses", Address),
        ("own", Address),
        ("theirs", Address),
    )


class MixStruct(ctypes.Structure):
    """mix_t of kernels.c: all in one place, as each argument of a call costs."""

    _fields_ = (
        ("exchange", Address),
        ("weights", Address),
        ("rounds", ctypes.c_int64),
    )


class BatchStruct(ctypes.Structure):
    """batch_t of kernels.c."""

    _fields_ = (
        ("values", Address),
        ("starts", Address),
        ("columns", Address),
        ("column_bytes", ctypes.c_int64),
        ("d", ctypes.c_int64),
        ("rows", Address),
        ("b", ctypes.c_int64),
        ("x", Address),
        ("z", Address),
        ("out", Address),
    )


SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "mix": (ctypes.c_int, [Address]),
    "dot": (None, [Address]),
    "tdot": (None, [Address]),
    "normal": (None, [Address, ctypes.c_double, ctypes.c_double]),
}


class Library:
    """The loaded shared object.

    Parameters
    ----------
    path
        The file; it must be the user's own, as its code is run.
    """

    def __init__(self, path: Path) -> None:
        try:
            if path.stat().st_uid != os.getuid():
                raise BuildError(f"{path} belongs to another user; remove it")
            library = ctypes.CDLL(str(path))
        except OSError as error:
            raise BuildError(f"cannot load {path}: {error}; remove it") from None
        self._functions = {}
        for name, (result, arguments) in SIGNATURES.items():
            for dtype, suffix in SUFFIXES.items():
                function = getattr(library, f"{name}_{suffix}")
                function.restype, function.argtypes = result, arguments
                self._functions[name, dtype] = function

    def function(self, name: str, dtype: np.dtype[Any]) -> Any:
        """Give mix, dot, tdot or normal for one type of number."""
        return self._functions[name, dtype]


def address(array: Any) -> int:
    """Where an array's numbers lie; the array must be kept as long as it is used."""
    return int(array.ctypes.data)
