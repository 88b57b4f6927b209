"""The engine's functions, as functions of Python that take and return arrays."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from pmgt_mpi.engine import OTHERS_WRITE, BuildError
from pmgt_mpi.engine.abi import check_layout, function_of_python, python_struct

SUFFIXES = {np.dtype(np.float64): "double", np.dtype(np.float32): "float"}
"""The types of number that the engine has functions for."""

ONE_ARGUMENT = ("mix",)
"""Functions that take an array, and nothing else."""

Address = ctypes.c_void_p


class ExchangeStruct(ctypes.Structure):
    """exchange_t of kernels.c."""

    _fields_ = (
        ("isend", Address),
        ("irecv", Address),
        ("startall", Address),
        ("testall", Address),
        ("comm", ctypes.c_ssize_t),
        ("datatype", ctypes.c_ssize_t),
        ("size", ctypes.c_int64),
        ("stride", ctypes.c_int64),
        ("degree", ctypes.c_int32),
        ("persistent", ctypes.c_int32),
        ("patient", ctypes.c_int32),
        ("neighbours", Address),
        ("requests", Address),
        ("request_bytes", ctypes.c_int64),
        ("statuses", Address),
        ("own", Address),
        ("theirs", Address),
        ("rounds", ctypes.c_int64),
    )


class MixStruct(ctypes.Structure):
    """mix_t of kernels.c."""

    _fields_ = (
        ("exchange", Address),
        ("weights", Address),
        ("rounds", ctypes.c_int64),
        ("nd", ctypes.c_int64),
        ("shape", Address),
        ("otherwise", Address),
        ("exception", Address),
    )


class RowsStruct(ctypes.Structure):
    """rows_t of kernels.c."""

    _fields_ = (
        ("values", Address),
        ("starts", Address),
        ("columns", Address),
        ("column_bytes", ctypes.c_int64),
        ("d", ctypes.c_int64),
        ("otherwise", Address),
    )


class Library:
    """The loaded shared object.

    Parameters
    ----------
    path
        The file. Its code is run, so nobody but the user may write it, or put another
        in its place.
    """

    def __init__(self, path: Path) -> None:
        check_layout()
        try:
            for own in (path, path.parent):
                seen = own.stat()
                if seen.st_uid != os.getuid():
                    raise BuildError(
                        f"{own} belongs to another user; name a folder of your own in "
                        "PMGT_CACHE"
                    )
                if seen.st_mode & OTHERS_WRITE:
                    raise BuildError(
                        f"{own} may be written by other users, and its code would be "
                        f"run; chmod go-w {own}"
                    )
            self._library = ctypes.CDLL(str(path))
            attach = self._library.attach
        except (OSError, AttributeError) as error:
            raise BuildError(f"cannot load {path}: {error}; remove it") from None
        attach(ctypes.byref(python_struct()))

    def function(
        self, name: str, dtype: np.dtype[Any], struct: ctypes.Structure, *kept: Any
    ) -> Callable[..., Any]:
        """Return mix, dot, tdot or normal for one type of number.

        Parameters
        ----------
        struct
            What it works on.
        kept
            What the struct holds addresses of: it lives as long as the function.
        """
        call = getattr(self._library, f"{name}_{SUFFIXES[dtype]}")
        return function_of_python(
            name, call, struct, (self, *kept), one_argument=name in ONE_ARGUMENT
        )


def address(array: Any) -> int:
    """Where an array's numbers lie; the array must be kept as long as it is used."""
    return int(array.ctypes.data)
