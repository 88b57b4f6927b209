"""Files that are there whole or not at all."""

from __future__ import annotations

import multiprocessing

import pytest

from pmgt_mpi.replacing import replacing


def names(folder):
    return [path.name for path in folder.iterdir()]


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
