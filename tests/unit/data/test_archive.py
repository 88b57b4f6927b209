from __future__ import annotations

import bz2
import gzip
import json
import logging
import lzma
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pmgt_mpi.data import archive
from pmgt_mpi.data.archive import Archive
from pmgt_mpi.data.rows import Rows
from pmgt_mpi.data.sources import lines
from pmgt_mpi.data.sources.csv import Csv
from pmgt_mpi.data.sources.libsvm import Libsvm
from pmgt_mpi.data.sources.npy import Npy
from pmgt_mpi.errors import UserError
from pmgt_mpi.mpi.collective import Collective

Read = Callable[..., Rows]
PACKERS: dict[str, Any] = {"gz": gzip, "bz2": bz2, "xz": lzma}
CSV = b"a,b,c\n" + b"".join(b"%d,%d.5,-1\n" % (i, i) for i in range(100))
SVM = b"".join(b"-1 1:%d 7:.5\n+1\n" % i for i in range(1, 50))


@pytest.fixture(params=list(PACKERS))
def packed(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., Path]:
    """``packed(name, content)``: write a file both plain and packed."""

    def pack(name: str, content: bytes) -> Path:
        (tmp_path / name).write_bytes(content)
        path = tmp_path / f"{name}.{request.param}"
        path.write_bytes(PACKERS[request.param].compress(content))
        return path

    return pack


def assert_same(rows: Rows, expected: Rows) -> None:
    assert rows.columns == expected.columns
    assert rows.arrays().keys() == expected.arrays().keys()
    for name, array in expected.arrays().items():
        assert_array_equal(rows.arrays()[name], array)
        assert rows.arrays()[name].dtype == array.dtype


@pytest.mark.parametrize("chunk", [100, 1 << 20])
@pytest.mark.parametrize("owned", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_packed_files_hold_what_plain_ones_do(
    dtype: Any,
    owned: bool,
    chunk: int,
    packed: Callable[..., Path],
    read: Read,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lines, "CHUNK_BYTES", chunk)
    path = packed("a.csv", CSV).name
    for options in ({"header": True}, {"header": True, "label_column": 1}):
        expected = read(Csv(path="a.csv", **options), dtype=dtype)
        assert_same(read(Csv(path=path, **options), dtype=dtype, owned=owned), expected)
        part = read(Csv(path=path, **options), 10, 17, dtype=dtype, owned=owned)
        assert_same(part, expected.part(10, 17))

    path = packed("a.svm", SVM).name
    for columns in (None, 9):
        expected = read(Libsvm(path="a.svm", columns=columns), dtype=dtype)
        rows = read(Libsvm(path=path, columns=columns), dtype=dtype, owned=owned)
        assert_same(rows, expected)
        part = read(Libsvm(path=path, columns=9), 10, 17, dtype=dtype, owned=owned)
        expected.columns = 9
        assert_same(part, expected.part(10, 17))
        assert len(read(Libsvm(path=path), 5, 5)) == 0
        if owned:
            assert all(array.flags.owndata for array in part.arrays().values())

    np.save(tmp_path / "m.npy", np.arange(12.0).reshape(4, 3))
    path = packed("m.npy", (tmp_path / "m.npy").read_bytes()).name
    assert_same(read(Npy(path=path), 1, 3), read(Npy(path="m.npy"), 1, 3))


def test_a_file_is_unpacked_once(
    packed: Callable[..., Path],
    read: Read,
    cache: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    path = packed("a.csv", CSV)
    caplog.set_level(logging.INFO, "pmgt_mpi")

    def unpackings(**options: Any) -> int:
        caplog.clear()
        read(Csv(path=path.name, header=True, **options))
        return len(caplog.records)

    assert unpackings() == 1
    assert unpackings() == 0
    assert unpackings(label_column=0) == 1
    assert unpackings(label_column=0) == 0
    assert unpackings() == 0
    os.utime(path, ns=(0, 12345))
    assert unpackings() == 1
    entries = list((cache / "data").iterdir())
    assert len(entries) == 3
    assert all(entry.name.startswith(path.name + "-") for entry in entries)
    for entry in entries:
        told = json.loads((entry / "complete.json").read_text())
        assert told["path"] == str(path)
        assert told["size"] == path.stat().st_size


def flip(path: Path) -> None:
    """Change the sign of the last number of a file, and keep its time."""
    times = path.stat()
    content = bytearray(path.read_bytes())
    content[-1] ^= 0x80
    path.write_bytes(content)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def change_list(entry: Path) -> None:
    told = json.loads((entry / "complete.json").read_text())
    told["size"] += 1
    (entry / "complete.json").write_text(json.dumps(told))


def link_elsewhere(entry: Path) -> None:
    (entry / "dense.npy").rename(entry.parent / "moved")
    (entry / "dense.npy").symlink_to(entry.parent / "moved")


DAMAGES: dict[str, Callable[[Path], object]] = {
    "a changed number": lambda entry: flip(entry / "dense.npy"),
    "a file that is gone": lambda entry: (entry / "dense.npy").unlink(),
    "a file cut short": lambda entry: os.truncate(entry / "dense.npy", 200),
    "a file that others may write to": lambda entry: (entry / "dense.npy").chmod(0o660),
    "a link in the place of a file": link_elsewhere,
    "an entry of another file": change_list,
    "a list that others may write to": lambda entry: (entry / "complete.json").chmod(
        0o602
    ),
    "no list": lambda entry: (entry / "complete.json").write_text("[]"),
    "no JSON": lambda entry: (entry / "complete.json").write_bytes(b"\0" * 300),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_not_as_it_was_written_is_made_again(
    damage: str,
    packed: Callable[..., Path],
    read: Read,
    cache: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    path = packed("a.csv", CSV)
    expected = read(Csv(path=path.name, header=True), owned=True)
    (entry,) = (cache / "data").iterdir()
    whole = {file.name: file.read_bytes() for file in entry.iterdir()}
    DAMAGES[damage](entry)
    assert_same(read(Csv(path=path.name, header=True)), expected)
    assert [record.getMessage() for record in caplog.records] == [
        f"{entry} is not as it was written, or others may write to it; unpacking "
        f"{path} again"
    ]
    assert {file.name: file.read_bytes() for file in entry.iterdir()} == whole
    caplog.clear()
    assert_same(read(Csv(path=path.name, header=True)), expected)
    assert caplog.records == []


def test_a_changed_array_is_unpacked_again(
    packed: Callable[..., Path], read: Read, cache: Path, tmp_path: Path
) -> None:
    np.save(tmp_path / "m.npy", np.arange(12.0).reshape(4, 3))
    path = packed("m.npy", (tmp_path / "m.npy").read_bytes()).name
    read(Npy(path=path))
    (entry,) = (cache / "data").iterdir()
    flip(entry / "array.npy")
    assert_same(read(Npy(path=path)), read(Npy(path="m.npy")))


def test_another_job_may_make_it_again_in_the_meantime(
    packed: Callable[..., Path], alone: Collective, cache: Path, tmp_path: Path
) -> None:
    array = np.arange(12.0).reshape(4, 3)
    np.save(tmp_path / "m.npy", array)
    path = packed("m.npy", (tmp_path / "m.npy").read_bytes()).name
    seed = np.random.SeedSequence(0)
    table = Npy(path=path).open(alone, base=tmp_path, seed=seed)
    (entry,) = (cache / "data").iterdir()
    (entry / "array.npy").rename(entry / "old")
    np.save(entry / "array.npy", array)
    os.utime(entry / "array.npy", ns=(0, 12345))
    rows = table.read(0, 4, np.dtype(float), owned=False)
    assert_array_equal(rows.dense, array)


def test_a_file_that_was_never_written_does_not_count(
    packed: Callable[..., Path], read: Read, cache: Path
) -> None:
    path = packed("a.csv", CSV).name
    expected = read(Csv(path=path, header=True), owned=True)
    (entry,) = (cache / "data").iterdir()
    np.save(entry / "labels.npy", np.ones(100))
    assert_same(read(Csv(path=path, header=True)), expected)


@pytest.mark.parametrize("umask", [0o000, 0o002, 0o077])
def test_what_is_written_is_believed_under_any_umask(
    umask: int,
    packed: Callable[..., Path],
    read: Read,
    cache: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    path = packed("a.svm", SVM).name
    before = os.umask(umask)
    try:
        read(Libsvm(path=path))
        caplog.set_level(logging.INFO, "pmgt_mpi")
        read(Libsvm(path=path))
    finally:
        os.umask(before)
    assert caplog.records == []
    made = [path for path in cache.rglob("*") if path.is_file()]
    assert len(made) == 5
    assert {path.stat().st_mode & 0o777 for path in made} == {0o600}


def test_the_cache_of_another_user_is_refused(
    packed: Callable[..., Path],
    read: Read,
    cache: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = packed("a.csv", CSV).name
    read(Csv(path=path, header=True))
    owner = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: owner + 1)
    with pytest.raises(UserError, match=f"^{cache} belongs to another user .* set PM"):
        read(Csv(path=path, header=True))


@pytest.mark.skipif(
    os.getuid() != 0, reason="needs root, to give a file to another user"
)
def test_a_file_of_another_user_is_replaced(
    packed: Callable[..., Path], read: Read, cache: Path
) -> None:
    path = packed("a.csv", CSV).name
    expected = read(Csv(path=path, header=True), owned=True)
    (entry,) = (cache / "data").iterdir()
    for name in ("dense.npy", "complete.json"):
        os.chown(entry / name, 54321, -1)
        assert_same(read(Csv(path=path, header=True)), expected)
        assert (entry / name).stat().st_uid == 0


def test_what_was_left_half_done_is_done_again(
    packed: Callable[..., Path], read: Read, cache: Path
) -> None:
    path = packed("a.csv", CSV)
    read(Csv(path=path.name, header=True))
    (entry,) = (cache / "data").iterdir()
    (entry / "complete.json").unlink()
    (entry / "dense.npy").write_bytes(b"half")
    rows = read(Csv(path=path.name, header=True))
    assert_same(rows, read(Csv(path="a.csv", header=True)))
    assert {file.name for file in entry.iterdir()} == {"dense.npy", "complete.json"}


@pytest.mark.parametrize("source", [Csv, Libsvm, Npy])
def test_a_broken_archive_is_told(
    source: Any, packed: Callable[..., Path], read: Read, cache: Path
) -> None:
    path = packed("a", np.random.default_rng(0).bytes(5000))
    whole = path.read_bytes()
    for content in (whole[:-20], whole[:100], b"not packed at all", whole[:30] + whole):
        path.write_bytes(content)
        with pytest.raises(UserError) as caught:
            read(source(path=path.name))
        text = str(caught.value)
        assert text.startswith(f"{path} is broken or not a {path.suffix} file (")
        assert text.endswith("fetch or pack it again")
    left = [file.name for file in cache.rglob("*") if file.is_file()]
    assert left == []


def test_a_file_may_have_several_parts(
    packed: Callable[..., Path], read: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = packed("a.csv", CSV)
    whole, zeros = path.read_bytes(), b"\0" * 512
    path.write_bytes(whole + packed("b.csv", CSV[6:]).read_bytes() + zeros)
    expected = np.tile(np.loadtxt(CSV.split(b"\n")[1:-1], delimiter=","), (2, 1))
    for chunk in (1, 7, 1 << 16):
        monkeypatch.setattr(archive, "CHUNK_BYTES", chunk)
        with Archive(path) as file:
            parts = list(iter(lambda file=file: file.read(100), b""))
        assert b"".join(parts) == CSV + CSV[6:]
    rows = read(Csv(path=path.name, header=True))
    assert_array_equal(rows.dense, expected)


def test_a_later_part_that_is_damaged_is_no_end(
    packed: Callable[..., Path], read: Read
) -> None:
    path = packed("a.csv", CSV)
    whole, second = path.read_bytes(), packed("b.csv", CSV[6:]).read_bytes()
    for damaged in (
        b"X" + second[1:],
        second[:-1],
        second[:20] + b"X" + second[21:],
        b"rubbish",
    ):
        path.write_bytes(whole + damaged)
        with pytest.raises(
            UserError, match=f"^{path} is broken or not a {path.suffix}"
        ):
            read(Csv(path=path.name, header=True))


def test_a_python_without_an_unpacker_is_told(
    packed: Callable[..., Path], read: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = packed("a.csv", CSV)
    name = PACKERS[path.suffix[1:]].__name__
    monkeypatch.setitem(sys.modules, name, None)  # cannot be imported
    with pytest.raises(UserError) as caught:
        read(Csv(path=path.name, header=True))
    assert str(caught.value) == (
        f"this Python was built without {name}, so {path} cannot be read; unpack it "
        "first, or pack it as .gz"
    )


def test_a_file_that_changes_while_it_is_unpacked_is_refused(
    packed: Callable[..., Path],
    read: Read,
    cache: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = packed("a.csv", CSV)
    real = archive.checksum

    def touched(file: Path) -> str:
        os.utime(path, ns=(0, 12345))
        return real(file)

    monkeypatch.setattr(archive, "checksum", touched)
    with pytest.raises(UserError, match=f"^{path} has changed while it was read;"):
        read(Csv(path=path.name, header=True))
    (entry,) = (cache / "data").iterdir()
    assert [file.name for file in entry.iterdir()] == ["dense.npy"]


def test_a_wrong_line_is_named(packed: Callable[..., Path], read: Read) -> None:
    path = packed("a.csv", b"1,2\n\n3\n")
    with pytest.raises(UserError) as caught:
        read(Csv(path=path.name))
    assert str(caught.value) == (
        f"{path}, line 3: 1 fields; expected 2, as in the first row"
    )
    path = packed("a.svm", b"1 1:1\n1 1:x\n")
    with pytest.raises(UserError) as caught:
        read(Libsvm(path=path.name))
    assert str(caught.value) == (
        f"{path}, line 2: '1:x'; expected index:value, finite numbers"
    )


def test_an_unpacked_array_is_called_by_the_name_of_its_archive(
    packed: Callable[..., Path], read: Read, tmp_path: Path
) -> None:
    np.save(tmp_path / "m.npy", np.array([[1.0], [np.nan]]))
    path = packed("m.npy", (tmp_path / "m.npy").read_bytes())
    with pytest.raises(UserError, match=f"^{path}, row 1, column 0"):
        read(Npy(path=path.name))


def test_a_cache_that_cannot_be_written_is_told(
    packed: Callable[..., Path], read: Read, cache: Path
) -> None:
    path = packed("a.csv", CSV)
    cache.write_text("not a folder")
    with pytest.raises(UserError) as caught:
        read(Csv(path=path.name, header=True))
    text = str(caught.value)
    assert text.startswith(f"cannot unpack {path} into {cache / 'data' / path.name}-")
    assert text.endswith("(Not a directory); set PMGT_CACHE to a folder with room")


JOB = """
import sys
from pathlib import Path
import numpy as np
from mpi4py import MPI
from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.data.sources.csv import Csv
sys.stdin.readline()
seed = np.random.SeedSequence(0)
table = Csv(path=sys.argv[1]).open(Collective(MPI.COMM_SELF), base=None, seed=seed)
rows = table.read(0, table.length, np.dtype(float), owned=False)
assert np.array_equal(rows.dense, np.loadtxt(sys.argv[2], delimiter=","))
"""


def test_two_jobs_may_unpack_at_once(tmp_path: Path, cache: Path) -> None:
    plain, path = tmp_path / "a.csv", tmp_path / "a.csv.gz"
    plain.write_text("".join(f"{i},{i}.25,-{i}\n" for i in range(50_000)))
    path.write_bytes(gzip.compress(plain.read_bytes(), 1))
    jobs = [
        subprocess.Popen(
            [sys.executable, "-c", JOB, str(path), str(plain)],
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
            text=True,
        )
        for _ in range(3)
    ]
    for job in jobs:
        assert job.stdin is not None
        job.stdin.write("go\n")
        job.stdin.flush()
    errors = [job.communicate(timeout=60)[1] for job in jobs]
    assert [job.returncode for job in jobs] == [0, 0, 0], errors
    (entry,) = (cache / "data").iterdir()
    assert {file.name for file in entry.iterdir()} == {"dense.npy", "complete.json"}


def test_an_agents_own_file_may_be_packed(
    packed: Callable[..., Path], alone: Collective, tmp_path: Path
) -> None:
    path = packed("a-0.csv", b"1,2\n")
    source = Csv(path=path.name.replace("0", "{agent}"))
    table = source.open(alone, base=tmp_path, seed=np.random.SeedSequence(0))
    assert table.private
    assert table.name == str(path)
    assert table.length == 1
