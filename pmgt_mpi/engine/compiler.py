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
from pmgt_mpi.engine import OTHERS_WRITE, BuildError

HERE = Path(__file__).parent
SOURCES = ("kernels.c", "abi.h", "rounds.h", "rows.h")
COMPILERS = ("cc", "gcc", "clang")

FLAGS = ("-O3", "-std=gnu11", "-fPIC", "-shared")
OWN_PROCESSOR = "-march=native"

SEAL = 16
"""Bytes of the digest at the end of an object."""

LIMIT = 300
"""Seconds for one compilation."""


def object_path() -> Path:
    """Where the shared object for this source and this processor lies, or would lie.

    A home folder may be shared by machines with different processors, so the
    processor's features are part of the name; so is the user's choice of a compiler.
    """
    digest = hashlib.blake2b(digest_size=16)
    for name in SOURCES:
        try:
            digest.update((HERE / name).read_bytes())
        except OSError as error:
            raise BuildError(f"cannot read {HERE / name}: {error.strerror}") from None
    for word in (*FLAGS, OWN_PROCESSOR, os.environ.get("CC", ""), _processor()):
        digest.update(os.fsencode(word) + b"\0")
    return cache_folder() / "engine" / f"{digest.hexdigest()}.so"


def build(path: Path) -> None:
    """Compile the engine to `path`, unless it is there; several jobs may do so at once.

    An object that is not as it was written is made again: to load a part of one kills
    the process. Nobody else may write the object or its folder, whatever the umask.
    Raises `BuildError` where there is no compiler, or it fails, or the folder cannot
    be written.
    """
    try:
        if not _is_whole(path):
            compiler = find_compiler()
            with replacing(path) as temporary:
                _compile(compiler, temporary)
                _seal(temporary)
        folder = path.parent.stat()
        if folder.st_uid == os.getuid() and folder.st_mode & OTHERS_WRITE:
            path.parent.chmod(folder.st_mode & ~OTHERS_WRITE)
    except OSError as error:
        raise BuildError(f"cannot write {path}: {error.strerror}") from None


def _seal(path: Path) -> None:
    """Put a digest behind an object, where nobody who loads it looks."""
    seal = hashlib.blake2b(path.read_bytes(), digest_size=SEAL).digest()
    with path.open("ab") as file:
        file.write(seal)
    path.chmod(0o700)


def _is_whole(path: Path) -> bool:
    """Whether a file is there and ends with the digest of what is before."""
    try:
        data = path.read_bytes()
    except OSError:
        return False
    return hashlib.blake2b(data[:-SEAL], digest_size=SEAL).digest() == data[-SEAL:]


def find_compiler() -> list[str]:
    """The command of a C compiler: CC, a usual name, or the wheel of zig."""
    if named := os.environ.get("CC", "").strip():
        try:
            return shlex.split(named)
        except ValueError as error:
            raise BuildError(f'CC is "{named}", which is no command: {error}') from None
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
    if not said and not target.exists():
        said = "it wrote no file"
    if said:
        lines = said.splitlines()
        errors = [line for line in lines if "error:" in line]
        told = (errors or lines[-1:])[0]
        raise BuildError(f"the C compiler {' '.join(compiler)} fails: {told}")


def _complaint(command: list[str]) -> str:
    """Run a compiler; return what it says if it fails, else nothing."""
    import subprocess  # only one agent comes here

    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=LIMIT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"not done after {LIMIT} s"
    except OSError as error:
        return str(error)
    if done.returncode == 0:
        return ""
    if done.returncode < 0:
        number = -done.returncode
        names = {known.value: known.name for known in signal.Signals}
        return f"killed by {names.get(number, f'signal {number}')}"
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
