"""The builds of the compiled engine: their names, and the sources that they are of."""

from __future__ import annotations

import hashlib
import os
import sys
import sysconfig
from pathlib import Path

from pmgt_mpi.errors import UserError

HERE = Path(__file__).parent
SOURCES = ("kernels.c", "stable_abi.h", "exchange.h", "rounds.h", "rows.h")


class BuildError(UserError):
    """The engine cannot be built or loaded here; the message says why."""


def check_python() -> None:
    """Raise `BuildError` on a Python whose objects are not those of the stable ABI."""
    if sys.implementation.name != "cpython":
        raise BuildError("it needs CPython")
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        raise BuildError("it needs a CPython with a GIL, and this one is free-threaded")


def variants() -> dict[str, tuple[str, ...]]:
    """Return the builds for this kind of machine by name, with their own flags.

    All of them give the same bits.
    """
    if os.uname().machine == "x86_64":
        wide = ("-mavx512f", "-mavx512dq", "-mavx512bw", "-mavx512vl")
        long = "-mprefer-vector-width=512"
        return {"baseline": (), "avx2": ("-mavx2",), "avx512": ("-mavx2", *wide, long)}
    return {"baseline": ()}


def module_name(variant: str) -> str:
    """Return the name of the module of a build, in this package."""
    return f"_kernels_{variant}"


def sources_digest() -> str:
    """Return what tells a build of the sources here from one of others."""
    digest = hashlib.blake2b(digest_size=8)
    for name in SOURCES:
        try:
            digest.update((HERE / name).read_bytes())
        except OSError as error:
            raise BuildError(f"cannot read {HERE / name}: {error.strerror}") from None
    return digest.hexdigest()
