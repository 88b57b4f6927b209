"""Building the engine's shared object, once for each machine, into the cache folder."""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
import shutil
import signal
import sys
from importlib.util import find_spec
from pathlib import Path

from pmgt_mpi.cache import cache_folder, replacing
from pmgt_mpi.engine import BuildError

HERE = Path(__file__).parent
SOURCES = ("kernels.c", "abi.h", "rounds.h", "rows.h")
COMPILERS = ("cc", "gcc", "clang")

FLAGS = ("-O3", "-std=gnu11", "-fPIC", "-shared")
OWN_PROCESSOR = "-march=native"

LIMIT = 300
"""Seconds for one compilation."""


def object_path() -> Path:
    """Where the shared object for this source and this processor lies, or would lie.

    A home folder may be shared by machines with different processors, so the
    processor's features are part of the name; so is the user's choice of a compiler.
    """
    digest = hashlib.blake2b(digest_size=16)
    for name in SOURCES:
        digest.update((HERE / name).read_bytes())
    for word in (*FLAGS, OWN_PROCESSOR, os.environ.get("CC", ""), _processor()):
        digest.update(word.encode() + b"\0")
    return cache_folder() / "engine" / f"{digest.hexdigest()}.so"


def build(path: Path) -> None:
    """Compile the engine to `path`, unless it is there; several jobs may do so at once.

    Raises `BuildError` where there is no compiler, or it fails, or the folder cannot
    be written.
    """
    if path.exists():
        return
    compiler = find_compiler()
    try:
        with replacing(path) as temporary:
            _compile(compiler, temporary)
    except OSError as error:
        raise BuildError(f"cannot write {path}: {error.strerror}") from None


def find_compiler() -> list[str]:
    """The command of a C compiler: CC, a usual name, or the wheel of zig."""
    if named := os.environ.get("CC"):
        return shlex.split(named)
    for name in COMPILERS:
        if found := shutil.which(name):
            return [found]
    if find_spec("ziglang") is not None:
        return [sys.executable, "-m", "ziglang", "cc"]
    raise BuildError(
        f"no C compiler ({', '.join(COMPILERS)}); install one, or pip install "
        "'pmgt_mpi[fast]'"
    )


def _compile(compiler: list[str], target: Path) -> None:
    """Run the compiler, for this processor if it can.

    Only a compiler that refuses the option is asked again without it. One that was
    killed, say, would leave an object under the same name that gives other last bits,
    and every later run on this machine would use it.
    """
    end = [str(HERE / "kernels.c"), "-o", str(target)]
    said = _complaint([*compiler, *FLAGS, OWN_PROCESSOR, *end])
    if "march" in said:
        said = _complaint([*compiler, *FLAGS, *end])
    if said:
        lines = said.splitlines()
        errors = [line for line in lines if "error:" in line]
        told = (errors or lines[-1:])[0]
        raise BuildError(f"the C compiler {' '.join(compiler)} fails: {told}")


def _complaint(command: list[str]) -> str:
    """Run a compiler; give what it says if it fails, else nothing."""
    import subprocess  # only one agent comes here

    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=LIMIT, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if done.returncode == 0:
        return ""
    if done.returncode < 0:
        return f"killed by {signal.Signals(-done.returncode).name}"
    return done.stderr.strip() or f"exit code {done.returncode}"


def _processor() -> str:
    """What this processor can do."""
    features = ""
    try:
        with Path("/proc/cpuinfo").open() as file:  # as far as the first one's features
            words = (line for line in file if line.startswith(("flags", "Features")))
            features = next(words, features)
    except OSError:
        pass  # another system than Linux: the kind of machine is all there is
    return platform.machine() + features
