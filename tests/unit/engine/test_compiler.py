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


def build_and_load() -> subprocess.CompletedProcess[str]:
    """In a process of its own, which an object that is not whole may kill."""
    program = (
        "from pmgt_mpi.engine.compiler import build, object_path\n"
        "from pmgt_mpi.engine.library import Library\n"
        "build(object_path()); Library(object_path())"
    )
    command = [sys.executable, "-c", program]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=False
    )


@needs_compiler
@pytest.mark.parametrize("damage", ["short", "empty", "foreign", "changed", "folder"])
def test_an_object_that_is_not_as_it_was_written_is_built_again(damage):
    path = object_path()
    build(path)
    whole = path.read_bytes()
    path.unlink()  # whatever has loaded it keeps it
    if damage == "short":
        path.write_bytes(whole[: len(whole) // 2])
    elif damage == "empty":
        path.write_bytes(b"")
    elif damage == "foreign":
        shutil.copy(sys.modules["_ctypes"].__file__, path)
    elif damage == "changed":
        middle = len(whole) // 2
        path.write_bytes(whole[:middle] + b"\0\1\2\3" + whole[middle + 4 :])
    else:
        path.mkdir()
    done = build_and_load()
    if damage == "folder":
        assert "BuildError: cannot write " in done.stderr
    else:
        assert (done.returncode, done.stderr) == (0, "")
        assert len(path.read_bytes()) == len(whole)


@needs_compiler
def test_what_others_may_write_is_not_run():
    path = object_path()
    old = os.umask(0o002)
    try:
        build(path)
    finally:
        os.umask(old)
    Library(path)
    for writable in (path, path.parent):
        mode = writable.stat().st_mode
        writable.chmod(mode | 0o020)
        with pytest.raises(BuildError, match=f"{writable} .*; chmod go-w {writable}$"):
            Library(path)
        writable.chmod(mode)
    Library(path)


@needs_compiler
def test_a_folder_that_others_may_write_is_closed_to_them():
    """As an earlier release made it where the user's umask is 002."""
    path = object_path()
    path.parent.mkdir(parents=True, mode=0o777)
    path.parent.chmod(0o775)
    build(path)
    Library(path)
    path.parent.chmod(0o775)
    build(path)
    Library(path)


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


def test_a_cache_folder_with_too_long_a_name(monkeypatch):
    monkeypatch.setenv("PMGT_CACHE", "/tmp/" + 300 * "x")
    monkeypatch.setenv("CC", "true")
    with pytest.raises(BuildError, match=r"cannot write .*: File name too long"):
        build(object_path())


def test_a_compiler_that_writes_nothing(monkeypatch):
    monkeypatch.setenv("CC", "true")
    with pytest.raises(BuildError, match="the C compiler true fails: it wrote no"):
        build(object_path())


def test_a_compiler_that_is_no_command(monkeypatch):
    monkeypatch.setenv("CC", "gcc 'a")
    with pytest.raises(BuildError, match=r"CC is \"gcc 'a\", which is no command: No"):
        build(object_path())
    monkeypatch.setenv("CC", " ")
    usual = find_compiler()
    monkeypatch.delenv("CC")
    assert find_compiler() == usual


def test_a_compiler_whose_name_is_no_text(tmp_path, monkeypatch):
    named = tmp_path / os.fsdecode(b"cc-\xff")
    monkeypatch.setenv("CC", script(named, "echo cannot >&2; exit 1"))
    with pytest.raises(BuildError, match="fails: cannot"):
        build(object_path())


def test_what_a_compiler_says_in_another_encoding_is_told(tmp_path, monkeypatch):
    text = "printf 'error: \\377nicht gefunden\\n' >&2; exit 1"
    monkeypatch.setenv("CC", script(tmp_path / "cc", text))
    with pytest.raises(BuildError, match=r"error: .nicht gefunden"):
        build(object_path())


def test_a_compiler_that_hangs_is_asked_once(tmp_path, monkeypatch):
    """The words of the time limit hold the command, and with it the option."""
    log = tmp_path / "log"
    text = f"echo run >> {log}; exec sleep 30"
    monkeypatch.setenv("CC", script(tmp_path / "cc", text))
    monkeypatch.setattr(compiler, "LIMIT", 0.5)
    with pytest.raises(BuildError, match=r"cc fails: not done after 0.5 s$"):
        build(object_path())
    assert log.read_text() == "run\n"


def test_a_compiler_that_is_killed_by_a_signal_without_a_name(tmp_path, monkeypatch):
    monkeypatch.setenv("CC", script(tmp_path / "cc", "kill -40 $$"))
    with pytest.raises(BuildError, match=r"fails: killed by signal 40$"):
        build(object_path())


def test_a_library_of_something_else(tmp_path):
    foreign = tmp_path / "foreign.so"
    shutil.copy(sys.modules["_ctypes"].__file__, foreign)
    foreign.chmod(0o755)
    with pytest.raises(BuildError, match=r"cannot load .*attach.*; remove it"):
        Library(foreign)


def test_a_file_that_is_no_library_or_not_ones_own(tmp_path, monkeypatch):
    broken = tmp_path / "broken.so"
    broken.write_bytes(b"\x7fELF no more")
    with pytest.raises(BuildError, match=r"cannot load .*broken.so.*; remove it"):
        Library(broken)
    monkeypatch.setattr(os, "getuid", lambda: 4321)
    with pytest.raises(BuildError, match=r"broken.so belongs to another user"):
        Library(broken)
