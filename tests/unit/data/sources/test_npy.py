from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pmgt_mpi.data.rows import Rows
from pmgt_mpi.data.sources import npyfile
from pmgt_mpi.data.sources.npy import Npy
from pmgt_mpi.data.sources.npyfile import NpyFile, NpyWriter
from pmgt_mpi.errors import UserError
from pmgt_mpi.mpi.collective import Collective

Read = Callable[..., Rows]


def saved(path: Path, array: Any) -> Path:
    np.save(path, array, allow_pickle=True)
    return path


def mapped(array: np.ndarray | None) -> bool:
    """Whether an array is a part of a mapped file."""
    base: Any = array
    while isinstance(base, np.ndarray):
        base = base.base
    return type(base).__name__ == "mmap"


@pytest.mark.parametrize("owned", [False, True])
@pytest.mark.parametrize("chunk", [1, 100, 1 << 20])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("kind", ["<f8", ">f8", "<f4", "<i4", "u1", "?"])
def test_any_range_of_any_kind(
    kind: str,
    order: Any,
    chunk: int,
    owned: bool,
    read: Read,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(npyfile, "CHUNK_BYTES", chunk)
    numbers = np.random.default_rng(0).integers(0, 100, (31, 4))
    array = np.array(numbers, dtype=kind, order=order)
    saved(tmp_path / "a.npy", array)
    for start, stop in [(0, 31), (0, 0), (31, 31), (7, 8), (9, 30)]:
        for dtype in (np.float64, np.float32):
            expected = array[start:stop].astype(dtype)
            rows = read(Npy(path="a.npy"), start, stop, dtype=dtype, owned=owned)
            assert rows.dense is not None
            assert rows.dense.dtype == dtype
            assert rows.dense.flags.c_contiguous
            assert_array_equal(rows.dense, expected)
            assert rows.columns == 4
            rows = read(
                Npy(path="a.npy", label_column=-3),
                start,
                stop,
                dtype=dtype,
                owned=owned,
            )
            assert_array_equal(rows.dense, expected[:, [0, 2, 3]])
            assert_array_equal(rows.labels, expected[:, 1])
            assert rows.columns == 3
            if owned:
                assert all(a.flags.owndata for a in rows.arrays().values())


def test_rows_that_need_no_change_are_not_copied(read: Read, tmp_path: Path) -> None:
    path = saved(tmp_path / "a.npy", np.ones((5, 3)))
    before = path.read_bytes()
    rows = read(Npy(path="a.npy"), 1, 4)
    assert mapped(rows.dense)
    assert type(rows.dense) is np.ndarray
    rows.dense[:] = 7  # on write they are copied: the file is safe
    assert path.read_bytes() == before
    assert not mapped(read(Npy(path="a.npy"), 1, 4, owned=True).dense)
    assert not mapped(read(Npy(path="a.npy"), 1, 4, dtype=np.float32).dense)
    saved(tmp_path / "a.npy", np.ones((5, 3), np.float32))
    assert mapped(read(Npy(path="a.npy"), 1, 4, dtype=np.float32).dense)


@pytest.mark.parametrize("shape", [(6,), (6, 1)])
def test_labels_from_another_file(
    shape: tuple[int, ...], read: Read, tmp_path: Path
) -> None:
    saved(tmp_path / "a.npy", np.ones((6, 2)))
    saved(tmp_path / "b.npy", np.arange(6).reshape(shape))
    rows = read(Npy(path="a.npy", labels="b.npy"), 2, 5)
    assert rows.labels is not None
    assert rows.labels.tolist() == [2, 3, 4]
    assert rows.labels.dtype == np.float64


@pytest.mark.parametrize("shape", [(5,), (7,), (6, 2), ()])
def test_labels_of_another_shape_are_refused(
    shape: tuple[int, ...], read: Read, tmp_path: Path
) -> None:
    a = saved(tmp_path / "a.npy", np.ones((6, 2)))
    b = saved(tmp_path / "b.npy", np.ones(shape))
    with pytest.raises(UserError) as caught:
        read(Npy(path="a.npy", labels="b.npy"))
    assert str(caught.value) == (
        f"{b} has shape {shape}; expected (6,), a label for each row of {a}"
    )


def test_labels_are_in_one_place() -> None:
    with pytest.raises(UserError, match="both say where the labels are"):
        Npy(path="a.npy", labels="b.npy", label_column=0)
    with pytest.raises(UserError, match=r"expected \{agent\} in both or in neither"):
        Npy(path="a-{agent}.npy", labels="b.npy")


@pytest.mark.parametrize("shape", [(6,), (2, 3, 4), ()])
def test_a_matrix_is_expected(
    shape: tuple[int, ...], read: Read, tmp_path: Path
) -> None:
    path = saved(tmp_path / "a.npy", np.ones(shape))
    with pytest.raises(UserError) as caught:
        read(Npy(path="a.npy"))
    assert str(caught.value) == (
        f"{path} has shape {shape}; expected a matrix, one row for each sample"
    )


@pytest.mark.parametrize("kind", ["c16", "U3", "M8[s]"])
def test_real_numbers_are_expected(kind: str, read: Read, tmp_path: Path) -> None:
    path = saved(tmp_path / "a.npy", np.zeros((2, 2), kind))
    with pytest.raises(UserError) as caught:
        read(Npy(path="a.npy"))
    assert str(caught.value) == (
        f"{path} holds {np.dtype(kind)}; expected real numbers, such as float64"
    )


class Bomb:
    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (Path("exploded"),))


def test_objects_are_refused_and_never_unpickled(
    read: Read, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = saved(tmp_path / "a.npy", np.array([[Bomb()]], dtype=object))
    with pytest.raises(UserError) as caught:
        read(Npy(path="a.npy"))
    assert str(caught.value).startswith(f"{path} is not a whole .npy file of numbers (")
    assert str(caught.value).endswith("write it with numpy.save, allow_pickle=False")
    assert not Path("exploded").exists()


def test_what_is_no_npy_file_is_refused(read: Read, tmp_path: Path) -> None:
    whole = saved(tmp_path / "a.npy", np.ones((50, 2))).read_bytes()
    for content in (b"", b"1,2\n", b"PK\3\4 zipped", whole[:60], whole[:500]):
        (tmp_path / "a.npy").write_bytes(content)
        with pytest.raises(UserError, match=r"is not a whole \.npy file of numbers"):
            read(Npy(path="a.npy"))


@pytest.mark.parametrize(
    ("descr", "shape"),
    [
        ("'<f8'", f"({10**30}, 2)"),
        ("'<f8'", f"(0, {10**30})"),
        ("'<f8'", "(True, 2)"),
        ("'<f8'", "(5, -2)"),
        ("'<f8'", "(-5, 2)"),
        ("'<f8'", "(8589934592, 8589934592)"),
        ("'<f8'", "(4611686018427387904, 4)"),
        ("'<f8'", "(2305843009213693951, 8)"),
        ("'<f8'", f"({'7' * 5000}, 2)"),
        ("'<f8'", f"({'-' * 5000}5, 2)"),
        ("'<f8'", f"{'(' * 900}5{')' * 900}"),
        ("'<f8'", "{[]: 1}"),
        ("'<f8'", "(1if 1else 2, 2)"),
        ("[('f8', ())]", "(5, 2)"),
        ("('f8', (2, -2))", "(5, 2)"),
    ],
)
@pytest.mark.parametrize("order", [False, True])
def test_a_header_that_cannot_be_is_refused(
    order: bool, descr: str, shape: str, read: Read, tmp_path: Path
) -> None:
    header = f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}}}\n"
    content = b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header.encode()
    path = tmp_path / "a.npy"
    path.write_bytes(content + bytes(160))
    with pytest.raises(UserError) as caught:
        read(Npy(path="a.npy"))
    told = str(caught.value)
    assert told.startswith(f"{path} is not a whole .npy file of numbers (")
    assert told.endswith("); write it with numpy.save, allow_pickle=False")
    assert len(told) < len(str(path)) + 300


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("chunk", [1, 1 << 20])
def test_a_number_that_is_not_finite_is_named_by_its_row(
    chunk: int,
    number: float,
    read: Read,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pmgt_mpi.data.sources.npy.CHUNK_BYTES", chunk)
    array = np.ones((20, 3))
    array[[13, 17], 2] = number
    path = saved(tmp_path / "a.npy", array)
    for source in (Npy(path="a.npy"), Npy(path="a.npy", label_column=0)):
        with pytest.raises(UserError) as caught:
            read(source, 5, 20)
        assert str(caught.value) == (
            f"{path}, row 13, column 2 (counted from 0): {number}; "
            "expected finite numbers"
        )
        assert len(read(source, 0, 13)) == 13
    with pytest.raises(UserError, match="row 13, column 2 "):
        read(Npy(path="a.npy", label_column=2), 5, 20)
    saved(tmp_path / "b.npy", array[:, 2])
    saved(tmp_path / "a.npy", np.ones((20, 3)))
    with pytest.raises(UserError, match=r"b\.npy, row 13, column 0 "):
        read(Npy(path="a.npy", labels="b.npy"), 5, 20)


def test_a_number_may_be_too_large_for_its_type(read: Read, tmp_path: Path) -> None:
    path = saved(tmp_path / "a.npy", np.array([[1.0, 1e39]]))
    assert len(read(Npy(path="a.npy"))) == 1
    with pytest.raises(UserError) as caught:
        read(Npy(path="a.npy"), dtype=np.float32)
    assert str(caught.value) == (
        f"{path}, row 0, column 1 (counted from 0): inf in float32; expected finite "
        "numbers"
    )


@pytest.mark.parametrize("rows", [3, 20])
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_file_that_changes_while_it_is_read_is_refused(
    order: Any, rows: int, alone: Collective, tmp_path: Path
) -> None:
    path = saved(tmp_path / "a.npy", np.ones((10, 3)))
    labels = saved(tmp_path / "b.npy", np.ones(10))
    seed = np.random.SeedSequence(0)
    for changed, shape in ((path, (rows, 3)), (labels, (rows,))):
        source = Npy(path="a.npy", labels="b.npy")
        table = source.open(alone, base=tmp_path, seed=seed)
        before = changed.read_bytes()
        saved(changed, np.ones(shape, order=order))
        with pytest.raises(UserError) as caught:
            table.read(0, 10, np.dtype(float), owned=False)
        assert str(caught.value) == (
            f"{changed} has changed while it was read; start again when it is written"
        )
        changed.write_bytes(before)


def test_rows_are_appended_to_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    array = np.random.default_rng(0).standard_normal((1000, 3))
    with NpyWriter(path, array) as writer:
        for start in range(0, 1000, 300):
            writer.append(array[start : start + 300])
        writer.append(array[:0])
    assert_array_equal(np.load(path), array)
    with NpyWriter(path, np.empty(0, np.int32)):
        pass
    assert np.load(path).shape == (0,)
    assert NpyFile(path, "a").shape == (0,)
