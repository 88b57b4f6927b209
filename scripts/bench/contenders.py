"""The C programs of this folder, compiled where there is a compiler, and a BLAS."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
FLAGS = ["-O3", "-march=native", "-std=gnu11", "-shared", "-fPIC"]
PROGRAMS = {"round": True, "epoch": True, "gather": False}
"""Name of each program, and whether it needs MPI."""


class NoCompilerError(Exception):
    """There is nothing to compile the C programs with; the message says what."""


def compile_all(folder: Path) -> None:
    """Compile the C programs into a folder."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        raise NoCompilerError("no C compiler (cc, gcc, clang)")
    prefix = Path(sys.prefix)
    wrapper = prefix / "bin" / "mpicc"
    for name, mpi in PROGRAMS.items():
        command, libraries = [compiler, *FLAGS], ["-lm"]
        if mpi and (prefix / "include" / "mpi.h").exists():
            command.append(f"-I{prefix / 'include'}")
            folder_of_mpi = prefix / "lib"
            libraries += [f"-L{folder_of_mpi}", "-lmpi", f"-Wl,-rpath,{folder_of_mpi}"]
        elif mpi:
            found = str(wrapper) if wrapper.exists() else shutil.which("mpicc")
            if found is None:
                raise NoCompilerError("no mpi.h in the environment and no mpicc")
            command = [found, *FLAGS]
        source, target = HERE / f"{name}.c", folder / f"{name}.so"
        subprocess.run(
            [*command, str(source), "-o", str(target), *libraries],
            check=True,
            timeout=120,
        )


def load(folder: Path, name: str) -> ctypes.CDLL | None:
    """Load a compiled program, if it is there."""
    path = folder / f"{name}.so"
    return ctypes.CDLL(str(path)) if path.exists() else None


def pointer(array: Any) -> ctypes.c_void_p:
    """Where an array lies."""
    return ctypes.c_void_p(array.ctypes.data)


AFFIXES = (("scipy_", "64_"), ("", "64_"), ("scipy_", ""), ("", ""))
"""What OpenBLAS may have before and after the names of its functions."""


class Blas(ctypes.Structure):
    """gemv, dot and axpy of the BLAS that numpy itself uses."""

    _fields_ = tuple((name, ctypes.c_void_p) for name in ("gemv", "dot", "axpy"))


def numpy_blas() -> Blas | None:
    """Find the functions in the library that numpy's wheel carries, or beside it."""
    folder = Path(np.__file__).parent.parent / "numpy.libs"
    paths = sorted(map(str, folder.glob("*openblas*")))
    for path in [*paths, "libopenblas.so.0", "libcblas.so.3"]:
        try:
            library = ctypes.CDLL(path)
        except OSError:
            continue
        for begin, end in AFFIXES:
            names = [f"{begin}cblas_d{part}{end}" for part in ("gemv", "dot", "axpy")]
            found = [getattr(library, name, None) for name in names]
            if all(found):
                return Blas(*[ctypes.cast(f, ctypes.c_void_p).value for f in found])
    return None
