"""The cache folder: where it is, and who may write to it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pmgt_mpi.cache import cache_folder, is_own, own_folder
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
