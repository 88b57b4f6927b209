"""Building the compiled engine into this folder: at installation, or by hand.

`pip install` does so by its build hook, and ``python -m pmgt_mpi.engine --build`` where
a compiler came after the package. Nothing but the standard library is needed.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from pmgt_mpi.engine.variants import (
    HERE,
    BuildError,
    check_python,
    module_name,
    sources_digest,
    variants,
)

COMPILERS = ("cc", "gcc", "clang")

FLAGS = ("-O3", "-std=gnu11", "-fPIC", "-shared", "-fvisibility=hidden")
SAME_BITS = ("-ffp-contract=off",)
"""A product and a sum are two operations, on processors that have one for both too."""

LIMIT = 300
"""Seconds for one compilation."""


def build(folder: Path = HERE) -> list[Path]:
    """Compile all variants into a folder; return their files.

    Raises `BuildError` where there is no compiler, or it fails, or the folder cannot
    be written: it then holds what it held before. And on a Python that cannot load it.
    """
    check_python()
    compiler, environment = find_compiler()
    built = []
    try:
        with TemporaryDirectory(dir=folder, prefix=".build-") as temporary:
            for variant, flags in variants().items():
                made = Path(temporary) / f"{module_name(variant)}.abi3.so"
                _compile(compiler, environment, variant, flags, made)
                built.append(made)
            return [made.replace(folder / made.name) for made in built]
    except OSError as error:
        raise BuildError(f"cannot write {folder}: {error.strerror}") from None


def find_compiler() -> tuple[list[str], dict[str, str]]:
    """Return the command of a C compiler and its environment: CC, a usual one, or zig.

    zig comes as a package of Python. Where pip builds, that packages may not be
    imported is said by PYTHONPATH, so zig is asked without it.
    """
    environment = dict(os.environ)
    if named := environment.get("CC", "").strip():
        try:
            return shlex.split(named), environment
        except ValueError as error:
            raise BuildError(f'CC is "{named}", which is no command: {error}') from None
    for name in COMPILERS:
        if found := shutil.which(name):
            return [found], environment
    environment.pop("PYTHONPATH", None)
    zig = [sys.executable, "-m", "ziglang", "cc"]
    if not _complaint([*zig, "--version"], environment):
        return [*zig, "-mcpu=baseline"], environment
    raise BuildError(
        f"no C compiler ({', '.join(COMPILERS)}); install one, or pip install ziglang"
    )


def _compile(
    compiler: list[str],
    environment: dict[str, str],
    variant: str,
    flags: tuple[str, ...],
    target: Path,
) -> None:
    defined = (f"-DMODULE={module_name(variant)}", f'-DSOURCES="{sources_digest()}"')
    end = (str(HERE / "kernels.c"), "-o", str(target))
    command = [*compiler, *FLAGS, *SAME_BITS, *flags, *defined, *end]
    said = _complaint(command, environment)
    if not said and not target.exists():
        said = "it wrote no file"
    if said:
        lines = said.splitlines()
        errors = [line for line in lines if "error:" in line]
        message = (errors or lines[-1:])[0]
        raise BuildError(f"the C compiler {' '.join(compiler)} fails: {message}")


def _complaint(command: list[str], environment: dict[str, str]) -> str:
    """Run a compiler; return what it says if it fails, else nothing."""
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=LIMIT,
            check=False,
            env=environment,
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
