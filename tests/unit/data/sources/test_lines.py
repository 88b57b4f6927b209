from __future__ import annotations

import io
import random
from itertools import pairwise

import pytest

from pmgt_mpi.data.source import LineError
from pmgt_mpi.data.sources import lines
from pmgt_mpi.data.sources.lines import (
    first_line,
    lines_of_range,
    lines_of_stream,
    parse_lines,
    without_mark,
)


class CountingFile(io.BytesIO):
    """Counts what is read of it."""

    count = 0

    def read(self, size: int | None = -1, /) -> bytes:
        data = super().read(size)
        self.count += len(data)
        return data


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "CHUNK_BYTES", 7)
    monkeypatch.setattr(lines, "STEP_BYTES", 2)


def random_text(draw: random.Random) -> bytes:
    text = b"".join(
        draw.choice([b"a", b"bc", b"long line", b""]) + b"\n"
        for _ in range(draw.randrange(12))
    )
    return text + draw.choice([b"", b"no newline"])


def test_each_line_belongs_to_one_range_whatever_the_cuts() -> None:
    draw = random.Random(1)
    for _ in range(2000):
        text = random_text(draw)
        cuts = sorted(draw.randrange(len(text) + 1) for _ in range(draw.randrange(5)))
        cuts = [0, *cuts, len(text)]
        parts = []
        for start, stop in pairwise(cuts):
            chunks = list(lines_of_range(io.BytesIO(text), start, stop))
            # Whole lines: each chunk ends where the text does or with a newline.
            assert all(c.endswith(b"\n") or text.endswith(c) for c in chunks)
            part = b"".join(chunks)
            begins = [0, *(i + 1 for i, c in enumerate(text) if c == ord("\n"))]
            mine = [i for i in begins if start <= i < stop]
            assert part.count(b"\n") + (
                not part.endswith(b"\n") and part != b""
            ) == len([i for i in mine if i < len(text)])
            parts.append(part)
        assert b"".join(parts) == text


def test_a_range_reads_its_bytes_once_and_little_more() -> None:
    text = b"0123456789\n" * 50
    for start, stop in pairwise(range(0, len(text) + 1, 50)):
        file = CountingFile(text)
        list(lines_of_range(file, start, stop))
        # One byte before the range, and its last line to the end, two by two.
        assert file.count <= stop - start + 1 + 10 + 1


def test_a_stream_is_given_whole() -> None:
    draw = random.Random(2)
    for _ in range(300):
        text = random_text(draw)
        chunks = list(lines_of_stream(io.BytesIO(text)))
        assert b"".join(chunks) == text
        assert all(chunk.endswith(b"\n") for chunk in chunks[:-1])


def test_first_line_leaves_out_the_header_and_blank_lines() -> None:
    text = b"name,other name\n\n  \r\n1,2\n3,4\n"
    assert first_line(io.BytesIO(text), 1) == b"1,2"
    assert first_line(io.BytesIO(text), 0) == b"name,other name"
    assert first_line(io.BytesIO(b"\n\n"), 0) == b""


def test_first_line_does_not_read_on() -> None:
    file = CountingFile(b"1,2\n" * 1000)
    assert first_line(file, 0) == b"1,2"
    assert file.count == 4


@pytest.mark.parametrize("chunk", [1, 2, 3, 4, 100])
def test_the_mark_of_utf_8_is_left_out_once(
    chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "CHUNK_BYTES", chunk)
    monkeypatch.setattr(lines, "STEP_BYTES", chunk)
    mark = b"\xef\xbb\xbf"
    text = mark + b"1,2\n" + mark + b"3\n"
    file = io.BytesIO(text)
    assert b"".join(without_mark(lines_of_range(file, 0, 4))) == b"1,2\n"
    file.seek(0)
    assert b"".join(without_mark(lines_of_stream(file))) == text[3:]
    assert first_line(io.BytesIO(text), 0) == b"1,2"
    assert first_line(io.BytesIO(mark + b"\n\n3\n"), 1) == b"3"
    assert first_line(io.BytesIO(mark), 0) == b""


def test_a_line_without_an_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "LONGEST_LINE", 20)
    line = b"x" * 20
    assert b"".join(lines_of_stream(io.BytesIO(line + b"\n"))) == line + b"\n"
    for text in (line + b"x", line + b"x\n1"):
        for start in (0, 1):
            with pytest.raises(LineError, match="no newline in 20 bytes; expected"):
                list(lines_of_range(io.BytesIO(b"\n" + text), start, 2))
        with pytest.raises(LineError):
            list(lines_of_stream(io.BytesIO(text)))
        with pytest.raises(LineError) as caught:
            first_line(io.BytesIO(b"1\n\n" + text), 1)
        assert caught.value.line == 3


def parse_digits(text: bytes) -> list[int] | None:
    try:
        return [int(line) for line in text.split(b"\n") if line]
    except ValueError:
        return None


def explain(line: bytes) -> str:
    return f"not this: {line.decode()}"


def test_good_lines_are_parsed() -> None:
    assert parse_lines(b"1\n\n2\n", parse_digits, explain) == [1, 2]
    assert parse_lines(b"", parse_digits, explain) == []


@pytest.mark.parametrize("count", [1, 2, 3, 4, 7, 16, 33])
def test_the_first_wrong_line_is_found(count: int) -> None:
    for wrong in range(count):
        text = [b"1"] * count
        text[wrong] = b"x"
        text[-1] = text[-1] if wrong == count - 1 else b"y"
        with pytest.raises(LineError) as caught:
            parse_lines(b"\n".join(text) + b"\n", parse_digits, explain)
        assert (caught.value.line, caught.value.what) == (wrong + 1, "not this: x")
