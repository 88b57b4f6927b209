from __future__ import annotations

import gzip
import io
import random
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pmgt_mpi.data.layout import matrix
from pmgt_mpi.data.rows import Rows
from pmgt_mpi.data.source import LineError
from pmgt_mpi.data.sources import lines
from pmgt_mpi.data.sources.libsvm import Libsvm, LibsvmParser
from pmgt_mpi.errors import UserError

Read = Callable[..., Rows]
FLOAT64 = np.dtype(np.float64)

TEXT = b"""\
+1 1:0.5 3:-2e3 12:7
-1 2:1

# a comment
2.5
1 qid:7 1:1e-320 9:3 # and another: 1:2
-1\t4:.5\r
+1 12:0"""

LABELS = [1, -1, 2.5, 1, -1, 1]
LENGTHS = [3, 1, 0, 2, 1, 1]
INDICES = [0, 2, 11, 1, 0, 8, 3, 11]
VALUES = [0.5, -2000, 7, 1, 1e-320, 3, 0.5, 0]


@pytest.mark.parametrize("chunk", [1, 20, 1 << 20])
def test_what_the_format_allows(
    chunk: int, read: Read, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "CHUNK_BYTES", chunk)
    (tmp_path / "a").write_bytes(TEXT)
    for cuts in ([0, len(TEXT)], [0, 1, 30, 31, 60, len(TEXT)]):
        parts = [read(Libsvm(path="a"), *cut) for cut in pairwise(cuts)]
        for name, expected in [
            ("labels", LABELS),
            ("lengths", LENGTHS),
            ("indices", INDICES),
            ("values", VALUES),
        ]:
            found = np.concatenate([part.arrays()[name] for part in parts])
            assert_array_equal(found, expected)
        assert max(part.columns for part in parts) == 12
        assert sum(part.lines for part in parts) == 8


def test_a_byte_order_mark_is_no_part_of_the_first_label(
    read: Read, tmp_path: Path
) -> None:
    text = b"\xef\xbb\xbf-1 2:7\n"
    (tmp_path / "a").write_bytes(text)
    (tmp_path / "a.gz").write_bytes(gzip.compress(text))
    for path in ("a", "a.gz"):
        rows = read(Libsvm(path=path))
        assert_array_equal(rows.labels, [-1])
        assert_array_equal(rows.values, [7])
    (tmp_path / "a").write_bytes("-1 2:7\n".encode("utf-16"))
    with pytest.raises(UserError, match=r"a, line 1: a byte order mark of UTF-16;"):
        read(Libsvm(path="a"))


def test_indices_may_count_from_zero() -> None:
    rows = LibsvmParser(None, 0)(b"1 0:5 2:6\n", FLOAT64)
    assert_array_equal(rows.indices, [0, 2])
    assert rows.columns == 3


def test_columns_may_be_given() -> None:
    rows = LibsvmParser(10, 1)(b"1 10:5\n-1 1:1\n", FLOAT64)
    assert rows.columns == 10
    assert_array_equal(rows.indices, [9, 0])
    assert LibsvmParser(10, 1)(b"1 2:5\n", FLOAT64).columns == 10
    with pytest.raises(LineError, match="line 2: index 11; expected 1 to 10"):
        LibsvmParser(10, 1)(b"1 1:5\n1 11:5\n", FLOAT64)
    with pytest.raises(LineError, match="line 1: index 10; expected 0 to 9"):
        LibsvmParser(10, 0)(b"1 10:5\n", FLOAT64)


TOO_WIDE = (
    "expected 1 to 67108864, as every agent holds vectors of that length; for more set "
    "data.columns"
)


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("x 1:1", "label 'x'; expected a finite number, then index:value …"),
        ("1:1 2:2", "label '1:1'; expected a finite number, then index:value …"),
        ("nan 1:1", "label 'nan'; expected a finite number, then index:value …"),
        ("1,2 1:1", "label '1,2'; expected a finite number, then index:value …"),
        ("1 2", "'2'; expected index:value, finite numbers"),
        ("1 2:", "'2:'; expected index:value, finite numbers"),
        ("1 :2", "':2'; expected index:value, finite numbers"),
        ("1 1:2:3", "'1:2:3'; expected index:value, finite numbers"),
        ("1 1::3", "'1::3'; expected index:value, finite numbers"),
        ("1 1:2 : 3:4", "':'; expected index:value, finite numbers"),
        ("1 1:x", "'1:x'; expected index:value, finite numbers"),
        ("1 1:1-2", "'1:1-2'; expected index:value, finite numbers"),
        ("1 1:nan", "'1:nan'; expected index:value, finite numbers"),
        ("1 1:1e999", "'1:1e999'; expected index:value, finite numbers"),
        ("1 1:\xa0", "'1:\xa0'; expected index:value, finite numbers"),
        ("1 1:2\xa03", "'1:2\xa03'; expected index:value, finite numbers"),
        ("1 1:2\xa03 4:\xa0", "'1:2\xa03'; expected index:value, finite numbers"),
        ("1 qid:x 1:1", "'qid:x'; expected index:value, finite numbers"),
        ("1 0:1", "index 0; if indices count from 0, set data.zero_based = true"),
        ("1 -1:1", "index -1; expected 1 to 67108864"),
        ("1 1.5:1", "index 1.5; expected 1 to 67108864"),
        ("1 67108865:1", f"index 67108865; {TOO_WIDE}"),
        ("1 2000000000:1", f"index 2000000000; {TOO_WIDE}"),
        ("1 1e300:1", f"index 1e300; {TOO_WIDE}"),
        ("1 1:" + "7" * 400, f"'1:{'7' * 58}…'; expected index:value, finite numbers"),
        ("1 " + "7" * 300 + ":1", f"index {'7' * 60}…; {TOO_WIDE}"),
        ("1 3:1 2:1", "index 2 after 3; expected increasing indices"),
        ("1 3:1 3:1", "index 3 after 3; expected increasing indices"),
    ],
)
def test_a_line_that_is_wrong_is_named(line: str, what: str) -> None:
    # Before it a line without entries; after it one wrong in another way.
    text = f"1 9:1\n\n-1\n{line}\n1 1:1\ny\n".encode("latin1")
    with pytest.raises(LineError) as caught:
        LibsvmParser(None, 1)(text, FLOAT64)
    assert (caught.value.line, caught.value.what) == (4, what)


def test_wider_data_are_taken_where_the_columns_are_given() -> None:
    index = np.iinfo(np.int32).max
    rows = LibsvmParser(index, 1)(b"1 67108865:1 %d:2\n" % index, FLOAT64)
    assert_array_equal(rows.indices, [67108864, index - 1])
    assert LibsvmParser(None, 1)(b"1 67108864:1\n", FLOAT64).columns == 67108864
    Libsvm(path="a", columns=index)
    with pytest.raises(UserError) as caught:
        Libsvm(path="a", columns=index + 1)
    assert str(caught.value) == (
        "data.columns = 2147483648; expected at most 2147483647 for libsvm"
    )


def test_a_number_may_be_too_large_for_its_type() -> None:
    text = b"1 1:1e39\n"
    assert len(LibsvmParser(None, 1)(text, FLOAT64)) == 1
    with pytest.raises(LineError, match="line 1: '1:1e39'; expected index:value"):
        LibsvmParser(None, 1)(text, np.dtype(np.float32))


def naive(text: bytes) -> list[tuple[float, list[tuple[float, float]]]] | None:
    """A second parser, line by line, that knows neither comments nor ids."""
    rows = []
    for line in text.decode("latin1").split("\n"):
        items = line.split()
        if not items:
            continue
        try:
            pairs = [item.split(":") for item in items[1:]]
            entries = [(float(j), float(v)) for j, v in pairs]
            row = (float(items[0]), entries)
        except ValueError:
            return None
        order = [j for j, _ in entries]
        if order != sorted(set(order)) or any(j < 1 or j % 1 for j in order):
            return None
        rows.append(row)
    return rows


def test_damaged_text_is_refused_or_read_as_a_naive_parser_does() -> None:
    draw = random.Random(3)
    refused = 0
    for _ in range(3000):
        text = bytearray(b"1 2:3 14:5.5\n-1\n+1 1:2 3:4\n")
        for _ in range(draw.randrange(1, 4)):
            place = draw.randrange(len(text))
            text[place : place + draw.randrange(2)] = draw.choice(
                [b" ", b":", b"\n", b"-", b".", b"7", b"0", b"x", b"\r", b""]
            )
        expected = naive(bytes(text))
        try:
            rows = LibsvmParser(None, 1)(bytes(text), FLOAT64)
        except LineError:
            assert expected is None, bytes(text)
            refused += 1
            continue
        assert expected is not None, bytes(text)
        assert rows.labels is not None
        assert rows.labels.tolist() == [label for label, _ in expected]
        assert rows.lengths is not None
        assert rows.lengths.tolist() == [len(entries) for _, entries in expected]
        flat = [pair for _, entries in expected for pair in entries]
        assert rows.indices is not None
        assert rows.values is not None
        assert rows.indices.tolist() == [j - 1 for j, _ in flat]
        assert rows.values.tolist() == [value for _, value in flat]
    assert 500 < refused < 2500


def test_scikit_learn_reads_the_same() -> None:
    datasets = pytest.importorskip("sklearn.datasets", reason="needs scikit-learn")
    stream = np.random.default_rng(4)
    A = stream.standard_normal((300, 40)) * (stream.random((300, 40)) < 0.2)
    b = stream.standard_normal(300)
    file = io.BytesIO()
    datasets.dump_svmlight_file(A, b, file, zero_based=False)
    expected, labels = datasets.load_svmlight_file(
        io.BytesIO(file.getvalue()), zero_based=False
    )
    rows = LibsvmParser(None, 1)(file.getvalue(), FLOAT64)
    assert_array_equal(rows.labels, labels)
    assert_array_equal(matrix(rows).toarray(), expected.toarray())


@pytest.mark.parametrize(
    ("name", "shape", "counts", "entries"),
    [
        ("a9a.bz2", (32_561, 123), [24_720, 7_841], 451_592),
        ("a9a.t.bz2", (16_281, 123), [12_435, 3_846], 225_731),
        ("w8a.bz2", (49_749, 300), [48_270, 1_479], 579_586),
    ],
)
def test_the_files_of_the_libsvm_page(
    name: str,
    shape: tuple[int, int],
    counts: list[int],
    entries: int,
    needs_data: Callable[[str], Path],
    read: Read,
) -> None:
    rows = read(Libsvm(path=str(needs_data(name)), columns=shape[1]))
    assert (len(rows), rows.columns) == shape
    assert rows.entries == entries
    values, found = np.unique(rows.labels, return_counts=True)
    assert values.tolist() == [-1, 1]
    assert found.tolist() == counts
