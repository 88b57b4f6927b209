"""Building the compiled engine: once, by whom it must, and what is said otherwise."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from pmgt_mpi.engine import compiler
from pmgt_mpi.engine.compiler import BuildError, build, find_compiler, object_path
from pmgt_mpi.engine.library import Library

SYSTEM = next(filter(None, map(shutil.which, compiler.COMPILERS)), None)

needs_compiler = pytest.mark.skipif(
    SYSTEM is None, reason=f"no C compiler ({', '.join(compiler.COMPILERS)})"
)


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("PMGT_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("CC", raising=False)


def script(path, text):
    """A compiler of our own."""
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


@needs_compiler
def test_it_is_built_loaded_and_not_built_again(monkeypatch):
    path = object_path()
    build(path)
    Library(path)
    before = path.stat().st_mtime_ns
    monkeypatch.setattr(compiler, "find_compiler", lambda: pytest.fail("built again"))
    build(path)
    assert path.stat().st_mtime_ns == before
    assert [p.name for p in path.parent.iterdir()] == [path.name]


@needs_compiler
def test_processes_may_build_at_the_same_time():
    program = (
        "from pmgt_mpi.engine.compiler import build, object_path\n"
        "from pmgt_mpi.engine.library import Library\n"
        "build(object_path()); Library(object_path())"
    )
    jobs = [subprocess.Popen([sys.executable, "-c", program]) for _ in range(3)]
    assert [job.wait(timeout=60) for job in jobs] == [0, 0, 0]


@needs_compiler
def test_a_compiler_that_does_not_know_the_processor(tmp_path, monkeypatch):
    refusing = script(
        tmp_path / "old",
        'case "$*" in *-march=native*) echo "unknown -march=native" >&2; exit 1;; esac'
        f'\nexec {SYSTEM} "$@"',
    )
    monkeypatch.setenv("CC", refusing)
    build(object_path())
    Library(object_path())


@needs_compiler
def test_a_compiler_that_is_killed_leaves_nothing(tmp_path, monkeypatch):
    """An object without -march=native would give other last bits, now and later."""
    killed = script(
        tmp_path / "killed",
        f'case "$*" in *-march=native*) kill -9 $$;; esac\nexec {SYSTEM} "$@"',
    )
    monkeypatch.setenv("CC", killed)
    with pytest.raises(BuildError, match=r"the C compiler .* fails: killed by SIGKILL"):
        build(object_path())
    assert not list(object_path().parent.iterdir())


def test_the_error_is_told_and_not_the_last_line(tmp_path, monkeypatch):
    text = "echo 'cc: fatal error: Killed signal terminated program cc1' >&2\n"
    text += "echo compilation terminated. >&2; exit 1"
    monkeypatch.setenv("CC", script(tmp_path / "cc", text))
    with pytest.raises(BuildError, match=r"fails: cc: fatal error: Killed signal"):
        build(object_path())


def test_the_name_tells_the_source_the_compiler_and_the_processor(monkeypatch):
    names = {object_path()}
    monkeypatch.setenv("CC", "another")
    names.add(object_path())
    monkeypatch.setattr(compiler, "_processor", lambda: "another")
    names.add(object_path())
    monkeypatch.setattr(compiler, "SOURCES", ("rows.h",))
    names.add(object_path())
    assert len(names) == 4


def test_no_compiler(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(compiler, "find_spec", lambda name: None)  # noqa: ARG005
    with pytest.raises(BuildError) as error:
        build(object_path())
    assert str(error.value) == (
        "no C compiler (cc, gcc, clang); install one, or pip install 'pmgt_mpi[fast]'"
    )


def test_the_wheel_of_zig_is_a_compiler(monkeypatch, tmp_path):
    pytest.importorskip("ziglang", reason="ziglang is missing (pip install ziglang)")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_compiler() == [sys.executable, "-m", "ziglang", "cc"]
    build(object_path())
    Library(object_path())


def test_a_compiler_that_fails_or_is_not_there(tmp_path, monkeypatch):
    monkeypatch.setenv(
        "CC", script(tmp_path / "cc", "echo one >&2; echo two >&2; false")
    )
    with pytest.raises(BuildError, match=r"the C compiler .*/cc fails: two$"):
        build(object_path())
    assert not list(object_path().parent.iterdir())
    monkeypatch.setenv("CC", "/nowhere/cc")
    with pytest.raises(
        BuildError, match=r"the C compiler /nowhere/cc fails: .*No such"
    ):
        build(object_path())


def test_a_folder_that_cannot_be_made(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("PMGT_CACHE", str(tmp_path / "file"))
    monkeypatch.setenv("CC", "true")
    with pytest.raises(BuildError, match=r"cannot write .*/file/engine/.*\.so: Not a"):
        build(object_path())


def test_a_file_that_is_no_library_or_not_ones_own(tmp_path, monkeypatch):
    broken = tmp_path / "broken.so"
    broken.write_bytes(b"\x7fELF no more")
    with pytest.raises(BuildError, match=r"cannot load .*broken.so.*; remove it"):
        Library(broken)
    monkeypatch.setattr(os, "getuid", lambda: 4321)
    with pytest.raises(BuildError, match=r"broken.so belongs to another user"):
        Library(broken)
