"""The cache folder, and files that are there whole or not at all."""

from __future__ import annotations

import multiprocessing
import os
from pathlib import Path

import pytest

from pmgt_mpi.cache import cache_folder, is_own, own_folder, replacing
from pmgt_mpi.errors import UserError

ANOTHER = 54321
"""The number of a user who is not this one."""

needs_root = pytest.mark.skipif(
    os.getuid() != 0, reason="needs root, to give a file to another user"
)


def names(folder):
    return [path.name for path in folder.iterdir()]


def test_where_the_cache_is(monkeypatch):
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.delenv("PMGT_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert cache_folder() == Path("/home/me/.cache/pmgt_mpi")
    monkeypatch.setenv("XDG_CACHE_HOME", "/big")
    assert cache_folder() == Path("/big/pmgt_mpi")
    monkeypatch.setenv("PMGT_CACHE", "/mine")
    assert cache_folder() == Path("/mine")
    monkeypatch.setenv("PMGT_CACHE", "")
    assert cache_folder() == Path("/big/pmgt_mpi")


def test_a_file_appears_whole_at_the_end(tmp_path):
    path = tmp_path / "new" / "folder" / "x.npy"
    with replacing(path) as temporary:
        assert temporary.parent == path.parent, "a rename must not cross file systems"
        assert temporary.name.startswith("."), "no pattern for x.npy matches it"
        temporary.write_bytes(b"half")
        assert not path.exists()
        temporary.write_bytes(b"whole")
    assert path.read_bytes() == b"whole"
    assert names(path.parent) == ["x.npy"]


def test_the_old_file_stays_until_the_new_one_is_whole(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"old")
    with replacing(path) as temporary:
        temporary.write_bytes(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"


def test_a_writer_that_fails_leaves_nothing_and_the_old_file(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"old")

    def fail():
        with replacing(path) as temporary:
            temporary.write_bytes(b"half")
            raise ValueError("in the middle")

    with pytest.raises(ValueError, match="in the middle"):
        fail()
    assert names(tmp_path) == ["x"]
    assert path.read_bytes() == b"old"


def test_a_writer_that_writes_nothing_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError), replacing(tmp_path / "x"):
        pass
    assert names(tmp_path) == []


def write(path, letter, rounds):
    for _ in range(rounds):
        with replacing(path) as temporary:
            temporary.write_bytes(letter * 100_000)


def test_two_processes_that_write_at_once_never_mix(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"a" * 100_000)
    context = multiprocessing.get_context("fork")
    writers = [
        context.Process(target=write, args=(path, letter, 20))
        for letter in (b"a", b"b")
    ]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        content = path.read_bytes()
        assert len(content) == 100_000
        assert len(set(content)) == 1
    assert [writer.exitcode for writer in writers] == [0, 0]
    for writer in writers:
        writer.join()
    assert names(tmp_path) == ["x"]


def test_a_user_without_a_home_has_a_cache_too(monkeypatch):
    def homeless():
        raise RuntimeError("no home")

    monkeypatch.delenv("PMGT_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    assert cache_folder().is_absolute()


def mode(path):
    return path.stat().st_mode & 0o777


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("PMGT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.mark.parametrize("umask", [0o000, 0o002, 0o022, 0o077])
def test_a_folder_of_the_cache_is_closed_to_others(cache, umask):
    before = os.umask(umask)
    try:
        folder = own_folder("data", "x")
        assert folder == own_folder("data", "x")
    finally:
        os.umask(before)
    assert folder == cache / "data" / "x"
    assert [mode(path) for path in (cache, cache / "data", folder)] == [0o700] * 3


@pytest.mark.parametrize("way", [(), ("data",), ("data", "x")])
def test_the_right_of_others_to_write_is_taken_away(cache, way, caplog):
    own_folder("data", "x")
    folder = cache.joinpath(*way)
    folder.chmod(0o777)
    own_folder("data", "x")
    assert mode(folder) == 0o755
    assert [str(folder) in record.getMessage() for record in caplog.records] == [True]


def test_a_file_system_without_rights_is_refused(cache, monkeypatch):
    cache.mkdir()
    cache.chmod(0o777)
    monkeypatch.setattr(Path, "chmod", lambda *_: None)
    with pytest.raises(UserError, match=f"^others may write to {cache}, and its file"):
        own_folder("data")
    assert names(cache) == []


def test_a_folder_of_another_user_is_refused(cache, monkeypatch):
    cache.mkdir()
    owner = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: owner + 1)
    with pytest.raises(UserError) as caught:
        own_folder("data")
    assert str(caught.value) == (
        f"{cache} belongs to another user (number {owner}), so what lies there cannot "
        "be trusted; set PMGT_CACHE to a folder of your own"
    )
    assert names(cache) == []


@needs_root
@pytest.mark.parametrize("way", [(), ("data",), ("data", "x")])
def test_no_folder_on_the_way_may_be_another_user_s(cache, way):
    own_folder("data", "x")
    folder = cache.joinpath(*way)
    os.chown(folder, ANOTHER, -1)
    with pytest.raises(UserError, match=rf"^{folder} belongs to .* \(number {ANOTHER}"):
        own_folder("data", "x")


def test_the_cache_may_be_a_link_to_a_folder_of_one_s_own(cache, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    cache.symlink_to(tmp_path / "elsewhere")
    own_folder("data")
    assert names(tmp_path / "elsewhere") == ["data"]


@needs_root
def test_a_link_that_another_user_has_laid_is_refused(cache, tmp_path):
    (tmp_path / "mine").mkdir()
    cache.symlink_to(tmp_path / "mine")
    os.lchown(cache, ANOTHER, -1)
    with pytest.raises(UserError, match="belongs to another user"):
        own_folder("data")
    assert names(tmp_path / "mine") == []


def test_whose_file_it_is(tmp_path, monkeypatch):
    path, link = tmp_path / "x", tmp_path / "link"
    path.touch(0o600)
    link.symlink_to(path)
    assert is_own(path)
    assert not is_own(link)
    assert not is_own(tmp_path)
    for bits in (0o620, 0o602):
        path.chmod(bits)
        assert not is_own(path)
    path.chmod(0o644)
    assert is_own(path)
    owner = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: owner + 1)
    assert not is_own(path)
