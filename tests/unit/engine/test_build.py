"""Building the compiled engine, and what is said where it cannot be built."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from pmgt_mpi.engine import build as building
from pmgt_mpi.engine.build import COMPILERS, build, find_compiler
from pmgt_mpi.engine.variants import (
    HERE,
    BuildError,
    module_name,
    sources_digest,
    variants,
)

ROOT = Path(__file__).parents[3]
SYSTEM = next(filter(None, map(shutil.which, COMPILERS)), None)

needs_compiler = pytest.mark.skipif(
    SYSTEM is None, reason=f"no C compiler ({', '.join(COMPILERS)})"
)


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch):
    monkeypatch.delenv("CC", raising=False)


def script(path, text):
    """A compiler of our own."""
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def load(path: Path):
    spec = spec_from_file_location(path.name.partition(".")[0], path)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@needs_compiler
def test_every_variant_is_built_and_loads(tmp_path):
    built = build(tmp_path)
    names = [f"{module_name(variant)}.abi3.so" for variant in variants()]
    assert [file.name for file in built] == names
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted(names)
    assert {load(file).SOURCES for file in built} == {sources_digest()}


def python_headers() -> list[str]:
    """Make the compiler take the declarations of Python's limited API of 3.11."""
    include = sysconfig.get_paths()["include"]
    if not (Path(include) / "Python.h").exists():
        pytest.skip("Python.h is not installed")
    return ["-include", "Python.h", "-DPy_LIMITED_API=0x030B0000", f"-I{include}"]


def compile_strictly(*arguments: str | Path) -> None:
    strict = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-fPIC"]
    command = [SYSTEM, *strict, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@needs_compiler
@pytest.mark.parametrize("declared", [list, python_headers], ids=["by us", "by Python"])
def test_the_engine_compiles_without_a_warning(tmp_path, declared):
    defined = ["-DMODULE=_kernels", '-DSOURCES=""']
    source, target = HERE / "kernels.c", tmp_path / "kernels.o"
    compile_strictly("-c", *declared(), *defined, source, "-o", target)


@needs_compiler
def test_our_functions_are_declared_as_those_of_python(tmp_path):
    """The compiler refuses a second declaration that differs from the first."""
    _, first, rest = (HERE / "stable_abi.h").read_text().partition("int PyArg_Parse")
    lines = [line for line in f"{first}{rest}".splitlines() if line[:1] != "#"]
    assert len(lines) > 20
    source = tmp_path / "twice.c"
    macro = "#undef PyCFunction_NewEx"  # in Python.h it is one besides
    source.write_text("\n".join([macro, *lines]))
    compile_strictly("-c", *python_headers(), source, "-o", tmp_path / "twice.o")


STRUCTS = {
    "PyObject": "ob_refcnt ob_type",
    "Py_buffer": "buf obj len itemsize readonly ndim format shape strides suboffsets "
    "internal",
    "PyMethodDef": "ml_name ml_meth ml_flags ml_doc",
    "PyModuleDef_Slot": "slot value",
    "PyModuleDef": "m_base m_name m_doc m_size m_methods m_slots m_traverse m_clear "
    "m_free",
}
NUMBERS = (
    "METH_VARARGS METH_NOARGS METH_O METH_FASTCALL PyBUF_SIMPLE PyBUF_WRITABLE "
    "PyBUF_FORMAT PyBUF_ND PyBUF_STRIDES Py_mod_exec"
)


@needs_compiler
def test_our_structs_and_numbers_are_those_of_python(tmp_path):
    told = [f"sizeof({struct})" for struct in STRUCTS]
    for struct, members in STRUCTS.items():
        told += [f"offsetof({struct}, {member})" for member in members.split()]
    told += NUMBERS.split()
    source = tmp_path / "facts.c"
    begin = f'#include "{HERE / "stable_abi.h"}"\n#include <stddef.h>\n'
    source.write_text(f"{begin}size_t facts[] = {{{', '.join(told)}}};\n")
    found = []
    for name, headers in ("ours", []), ("theirs", python_headers()):
        target = tmp_path / f"{name}.so"
        compile_strictly("-shared", *headers, source, "-o", target)
        facts = (ctypes.c_size_t * len(told)).in_dll(ctypes.CDLL(str(target)), "facts")
        found.append(dict(zip(told, facts, strict=True)))
    assert found[0] == found[1]


@needs_compiler
def test_nothing_is_fused_into_one_operation(tmp_path):
    """Not even by a compiler whose flags allow instructions for it."""
    if shutil.which("objdump") is None or "avx2" not in variants():
        pytest.skip("no objdump, or a processor of another kind")
    for built, registers in zip(build(tmp_path), ("xmm", "ymm", "zmm"), strict=True):
        command = ["objdump", "-d", str(built)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert registers in done.stdout
        assert "vfmadd" not in done.stdout


@needs_compiler
def test_processes_may_build_at_the_same_time(tmp_path):
    program = (
        "from pathlib import Path\nfrom pmgt_mpi.engine.build import build\n"
        f"build(Path({str(tmp_path)!r}))"
    )
    jobs = [subprocess.Popen([sys.executable, "-c", program]) for _ in range(3)]
    assert [job.wait(timeout=120) for job in jobs] == [0, 0, 0]
    assert len(list(tmp_path.iterdir())) == len(variants())


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("kill -9 $$", r"the C compiler .* fails: killed by SIGKILL"),
        ("exit 0", r"fails: it wrote no file"),
        (
            "echo 'cc: fatal error: Killed signal terminated program cc1' >&2\n"
            "echo compilation terminated. >&2; exit 1",
            r"fails: cc: fatal error: Killed signal",
        ),
        ("printf '\\377 error: \\300' >&2; exit 1", r"fails: . error: ."),
    ],
)
def test_a_compiler_that_fails_leaves_nothing(tmp_path, monkeypatch, text, told):
    target = tmp_path / "target"
    target.mkdir()
    monkeypatch.setenv("CC", script(tmp_path / "cc", text))
    with pytest.raises(BuildError, match=told):
        build(target)
    assert list(target.iterdir()) == []


@pytest.mark.parametrize(
    ("named", "told"),
    [
        ("/nowhere/cc", r"the C compiler /nowhere/cc fails: .*No such file"),
        ("cc 'unclosed", r"CC is \"cc 'unclosed\", which is no command"),
    ],
)
def test_a_compiler_that_is_none(tmp_path, monkeypatch, named, told):
    monkeypatch.setenv("CC", named)
    with pytest.raises(BuildError, match=told):
        build(tmp_path)


@needs_compiler
def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(BuildError, match=r"cannot write .*file: "):
        build(tmp_path / "file")


def test_no_compiler_at_all(monkeypatch):
    monkeypatch.setattr(building, "COMPILERS", ())
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(BuildError, match=r"install one, or pip install ziglang$"):
        find_compiler()


HOOK = """
import sys
sys.path.insert(0, {root!r})
from hatchling.build import build_wheel
print(build_wheel({target!r}))
"""


@pytest.mark.parametrize("compiler", ["", "/nowhere/cc"])
def test_a_wheel_has_the_engine_or_is_pure(tmp_path, compiler):
    if find_spec("hatchling") is None:
        pytest.skip("hatchling is not installed")
    if not compiler and SYSTEM is None:
        pytest.skip("no C compiler")
    source = tmp_path / "source"
    ignored = shutil.ignore_patterns("*.abi3.so", "__pycache__")
    shutil.copytree(ROOT / "pmgt_mpi", source / "pmgt_mpi", ignore=ignored)
    shutil.copytree(ROOT / "launch", source / "launch")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source / name)
    program = HOOK.format(root=str(source), target=str(tmp_path))
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=source,
        env=os.environ | ({"CC": compiler} if compiler else {}),
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    wheel = tmp_path / done.stdout.split()[-1]
    objects = [n for n in zipfile.ZipFile(wheel).namelist() if n.endswith(".so")]
    if compiler:
        assert "-py3-none-any.whl" in wheel.name
        assert objects == []
        assert "without its compiled engine: the C compiler /nowhere" in done.stderr
    else:
        assert "-cp311-abi3-" in wheel.name
        assert len(objects) == len(variants())
