from __future__ import annotations

import gzip
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pmgt_mpi.data.rows import Rows
from pmgt_mpi.data.source import LineError
from pmgt_mpi.data.sources import lines
from pmgt_mpi.data.sources.csv import Csv, CsvParser
from pmgt_mpi.errors import UserError

Read = Callable[..., Rows]


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str], Path]:
    def to_file(text: str) -> Path:
        path = tmp_path / "a.csv"
        path.write_bytes(text.encode("latin1"))
        return path

    return to_file


def numbers(rows: int, columns: int) -> np.ndarray:
    return np.random.default_rng(rows).standard_normal((rows, columns)) * 10.0**9


def text_of(table: np.ndarray, delimiter: str = ",") -> str:
    return "".join(delimiter.join(map(repr, row)) + "\n" for row in table.tolist())


def test_every_bit_of_a_number_is_read(
    read: Read, write: Callable[[str], Path]
) -> None:
    table = numbers(100, 7)
    write(text_of(table))
    rows = read(Csv(path="a.csv"))
    assert_array_equal(rows.dense, table)
    assert (rows.columns, rows.labels, rows.lines) == (7, None, 100)


@pytest.mark.parametrize("column", [0, 2, 3, -1, -4])
def test_the_label_is_taken_out(
    column: int, read: Read, write: Callable[[str], Path]
) -> None:
    table = numbers(20, 4)
    write(text_of(table))
    rows = read(Csv(path="a.csv", label_column=column))
    assert_array_equal(rows.labels, table[:, column])
    assert_array_equal(rows.dense, np.delete(table, column, axis=1))
    assert rows.columns == 3


@pytest.mark.parametrize("column", [4, -5])
def test_a_label_outside_the_table_is_refused(
    column: int, read: Read, write: Callable[[str], Path]
) -> None:
    path = write(text_of(numbers(3, 4)))
    with pytest.raises(UserError) as caught:
        read(Csv(path="a.csv", label_column=column))
    assert str(caught.value) == (
        f"data.label_column = {column}, but {path} has 4 columns; expected -4 to 3"
    )


def test_a_label_alone_is_refused(read: Read, write: Callable[[str], Path]) -> None:
    path = write("1\n2\n")
    with pytest.raises(UserError) as caught:
        read(Csv(path="a.csv", label_column=0))
    assert str(caught.value) == (
        f"{path} has no column besides the label (data.label_column = 0); "
        "expected at least one feature"
    )


@pytest.mark.parametrize(
    ("delimiter", "text"),
    [
        (";", "1;2\n3;4\n"),
        ("\t", "1\t2\n3\t4\n"),
        (" ", "  1 2\n3 \t 4 \n"),
        (",", "1, 2\r\n3 ,4\r\n"),
        (",", "\n1,2\n\n\r\n3,4"),
    ],
)
def test_ways_to_write_a_table(
    delimiter: str, text: str, read: Read, write: Callable[[str], Path]
) -> None:
    write(text)
    rows = read(Csv(path="a.csv", delimiter=delimiter))
    assert_array_equal(rows.dense, [[1, 2], [3, 4]])


@pytest.mark.parametrize("chunk", [1, 1 << 20])
def test_lines_of_blanks_are_left_out_where_blanks_stand_between_numbers(
    chunk: int,
    read: Read,
    write: Callable[[str], Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lines, "CHUNK_BYTES", chunk)
    write("  \n1 2\n \t \r\n3 4\n   ")
    rows = read(Csv(path="a.csv", delimiter=" "))
    assert_array_equal(rows.dense, [[1, 2], [3, 4]])


def test_a_file_that_changes_while_it_is_read_is_refused(
    read: Read, write: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write("1,2\n3,4\n")
    real = CsvParser.__call__

    def parse(*arguments: Any) -> Rows:
        rows = real(*arguments)
        if len(rows):
            write("1,2\n3,4\n5,6\n")
        return rows

    monkeypatch.setattr(CsvParser, "__call__", parse)
    with pytest.raises(UserError) as caught:
        read(Csv(path="a.csv"))
    assert str(caught.value) == (
        f"{path} has changed while it was read; start again when it is written"
    )


@pytest.mark.parametrize("delimiter", ["", ", ", "\n", "…"])
def test_wrong_delimiters_are_refused(delimiter: str) -> None:
    with pytest.raises(UserError, match="expected one character, such as"):
        Csv(path="a.csv", delimiter=delimiter)


def test_a_header_is_left_out(read: Read, write: Callable[[str], Path]) -> None:
    path = write("age,weight in kg\n1,2\n3,4\n")
    rows = read(Csv(path="a.csv", header=True))
    assert_array_equal(rows.dense, [[1, 2], [3, 4]])
    assert rows.lines == 3
    assert len(read(Csv(path="a.csv", header=True), 1, 5)) == 0
    with pytest.raises(UserError) as caught:
        read(Csv(path="a.csv"))
    assert str(caught.value) == (
        f"{path}: the first line is not a row of numbers; if it holds the names of "
        "the columns, set data.header = true"
    )


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("header", [False, True])
@pytest.mark.parametrize("chunk", [1, 1 << 20])
def test_a_byte_order_mark_is_no_part_of_the_first_row(
    chunk: int,
    header: bool,
    packed: bool,
    read: Read,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lines, "CHUNK_BYTES", chunk)
    text = ("a,b\n" * header + "1,2\n3,4\n").encode("utf-8-sig")
    path = tmp_path / ("a.csv.gz" if packed else "a.csv")
    path.write_bytes(gzip.compress(text) if packed else text)
    rows = read(Csv(path=path.name, header=header))
    assert_array_equal(rows.dense, [[1, 2], [3, 4]])


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("header", [False, True])
def test_other_encodings_are_refused(
    header: bool, packed: bool, read: Read, tmp_path: Path
) -> None:
    text = "a,b\n" * header + "1,2\n3,4\n"
    path = tmp_path / ("a.csv.gz" if packed else "a.csv")
    for encoding, told in (
        (
            "utf-16",
            f"{path}, line 1: a byte order mark of UTF-16; expected UTF-8 or ASCII: "
            "convert the file, such as by iconv -f UTF-16 -t UTF-8",
        ),
        (
            "utf-16-le",
            f"{path} has zero bytes, as a binary file or one in UTF-16; expected text "
            "in UTF-8 or ASCII",
        ),
    ):
        content = text.encode(encoding)
        path.write_bytes(gzip.compress(content) if packed else content)
        with pytest.raises(UserError) as caught:
            read(Csv(path=path.name, header=header))
        assert str(caught.value) == told


def test_a_later_line_without_an_end_is_named(
    read: Read, write: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "CHUNK_BYTES", 8)
    monkeypatch.setattr(lines, "LONGEST_LINE", 20)
    write("a,b\n1,2\n3,4\n" + "5" * 30)
    with pytest.raises(LineError) as caught:
        read(Csv(path="a.csv", header=True))
    assert caught.value.line == 4


@pytest.mark.parametrize("text", ["", "\n\n", "a,b\n"])
def test_a_file_without_rows_has_none(
    text: str, read: Read, write: Callable[[str], Path]
) -> None:
    write(text)
    rows = read(Csv(path="a.csv", label_column=-1, header=text.startswith("a")))
    assert len(rows) == 0


@pytest.mark.parametrize("chunk", [1, 30, 1 << 20])
def test_ranges_of_bytes_make_up_the_file(
    chunk: int,
    read: Read,
    write: Callable[[str], Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lines, "CHUNK_BYTES", chunk)
    table = numbers(40, 3)
    size = write("x,y,z\n" + text_of(table)).stat().st_size
    source = Csv(path="a.csv", header=True, label_column=1)
    parts = [
        read(source, start, stop)
        for start, stop in pairwise([0, 1, size // 3, size // 2, size - 1, size])
    ]
    dense = [part.dense for part in parts if part.dense is not None]
    labels = [part.labels for part in parts if part.labels is not None]
    assert_array_equal(np.concatenate(dense), table[:, [0, 2]])
    assert_array_equal(np.concatenate(labels), table[:, 1])
    assert sum(part.lines for part in parts) == 41
    assert {part.columns for part in parts} == {2}


def test_numbers_are_of_the_type_asked_for(
    read: Read, write: Callable[[str], Path]
) -> None:
    table = numbers(9, 3)
    write(text_of(table))
    rows = read(Csv(path="a.csv", label_column=0), dtype=np.float32)
    assert rows.dense is not None
    assert rows.labels is not None
    assert rows.dense.dtype == rows.labels.dtype == np.float32
    assert_array_equal(rows.dense, table[:, 1:].astype(np.float32))


@pytest.mark.parametrize("chunk", [1, 5, 1 << 20])
@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("1,2,3", "3 fields; expected 2, as in the first row"),
        ("1", "1 fields; expected 2, as in the first row"),
        ("  ", "1 fields; expected 2, as in the first row"),
        ("1,x", "'x' in column 1 (from 0); expected a finite number"),
        ("1_0,1", "'1_0' in column 0 (from 0); expected a finite number"),
        ("1,#", "'#' in column 1 (from 0); expected a finite number"),
        (",2", "column 0 (from 0) is empty; expected a number"),
        ("1, ", "column 1 (from 0) is empty; expected a number"),
        ("nan,2", "'nan' in column 0 (from 0); expected a finite number"),
        ("1,-inf", "'-inf' in column 1 (from 0); expected a finite number"),
        (
            "1," + "9" * 5000,
            f"'{'9' * 60}…' in column 1 (from 0); expected a finite number",
        ),
        ("1,1e999", "'1e999' in column 1 (from 0); expected a finite number"),
        ("1,\xe9", "'\xe9' in column 1 (from 0); expected a finite number"),
    ],
)
def test_a_line_that_is_wrong_is_named(
    line: str,
    what: str,
    chunk: int,
    read: Read,
    write: Callable[[str], Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lines, "CHUNK_BYTES", chunk)
    write(f"names\n1,2\n\n3,4\n{line}\n5\n")
    with pytest.raises(LineError) as caught:
        read(Csv(path="a.csv", header=True))
    assert (caught.value.line, caught.value.what) == (5, what)


def test_a_number_may_be_too_large_for_its_type(
    read: Read, write: Callable[[str], Path]
) -> None:
    write("1,2\n1,1e39\n")
    assert len(read(Csv(path="a.csv"))) == 2
    with pytest.raises(LineError, match="line 2: '1e39' in column 1"):
        read(Csv(path="a.csv"), dtype=np.float32)


def test_covertype_is_what_its_authors_say(
    needs_data: Callable[[str], Path], read: Read
) -> None:
    path = needs_data("covtype.data.xz")
    rows = read(Csv(path=str(path), label_column=-1))
    assert rows.dense is not None
    assert rows.dense.shape == (581_012, 54)
    classes, counts = np.unique(rows.labels, return_counts=True)
    assert classes.tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert counts.tolist() == [211840, 283301, 35754, 2747, 9493, 17367, 20510]
    assert rows.labels is not None
    assert np.unique(rows.labels[:15_120], return_counts=True)[1].tolist() == [2160] * 7
    assert rows.dense[0, :3].tolist() == [2596, 51, 3]
