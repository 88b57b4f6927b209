"""Plain text in whole lines: the part that belongs to a range of bytes, read once."""

from __future__ import annotations

from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable, Iterator
from typing import Protocol, TypeVar

from pmgt_mpi.data.source import LineError

T = TypeVar("T")

CHUNK_BYTES = 1 << 21
"""Text that is held and parsed at once."""

STEP_BYTES = 1 << 16
"""Read at once beyond the end of the range, for the rest of its last line."""

LONGEST_LINE = 1 << 28
"""Bytes of a line, at most: one must be held whole, and a file of another kind, or one
that was packed to do harm, may have no newline at all."""


class Readable(Protocol):
    """The part of a binary file that a reader of lines needs."""

    def read(self, size: int, /) -> bytes | None:
        """Read up to so many bytes; none at the end."""
        ...


class Seekable(Readable, Protocol):
    """A file in which a range can be read."""

    def seek(self, position: int, /) -> int:
        """Go to a byte."""
        ...


def lines_of_range(file: Seekable, start: int, stop: int) -> Iterator[bytes]:
    """Return the lines whose first byte lies in [start, stop), whole, in chunks.

    So every line of a file belongs to one of the ranges that it is cut into, whatever
    the cuts. The last line of the file needs no newline.
    """
    if start >= stop:
        return
    # A line starts at `start` if the byte before it is a newline: so read that too.
    position = max(0, start - 1)
    file.seek(position)
    started = start == 0
    kept: list[bytes] = []
    while position < stop:
        text = file.read(min(CHUNK_BYTES, stop - position))
        if not text:
            break
        position += len(text)
        if not started:
            _, newline, text = text.partition(b"\n")
            started = bool(newline)
        yield from _whole_lines(kept, text)
    while kept and (text := file.read(STEP_BYTES)):
        line, newline, _ = text.partition(b"\n")
        _keep(kept, line + newline)
        if newline:
            break
    if kept:
        yield b"".join(kept)


def lines_of_stream(file: Readable, size: int = 0) -> Iterator[bytes]:
    """Return all lines of a stream, in chunks of about so many bytes."""
    kept: list[bytes] = []
    while text := file.read(size or CHUNK_BYTES):
        yield from _whole_lines(kept, text)
    if kept:
        yield b"".join(kept)


def _whole_lines(kept: list[bytes], text: bytes) -> Iterator[bytes]:
    """Return all up to the last newline; keep the rest for what follows."""
    end = text.rfind(b"\n") + 1
    if end:
        yield b"".join([*kept, text[:end]])
        kept.clear()
    if end < len(text):
        _keep(kept, text[end:])


def _keep(kept: list[bytes], text: bytes) -> None:
    """Keep a part of a line whose end is still to come."""
    kept.append(text)
    if sum(map(len, kept)) > LONGEST_LINE:
        raise LineError(
            1, f"no newline in {LONGEST_LINE:,} bytes; expected text, a row in a line"
        )


def without_mark(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Return chunks from the beginning of a file, without the mark of UTF-8.

    A file in UTF-16 is refused by its mark.
    """
    for chunk in chunks:
        if chunk.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
            raise LineError(
                1,
                "a byte order mark of UTF-16; expected UTF-8 or ASCII: convert the "
                "file, such as by iconv -f UTF-16 -t UTF-8",
            )
        yield chunk.removeprefix(BOM_UTF8)
        break
    yield from chunks


def first_line(file: Readable, skip: int) -> bytes:
    """Return the first line after so many that is not blank; empty at the end."""
    number = 0
    try:
        for chunk in without_mark(lines_of_stream(file, STEP_BYTES)):
            for line in chunk.removesuffix(b"\n").split(b"\n"):
                if number >= skip and line.strip():
                    return line
                number += 1
    except LineError as error:
        raise LineError(number + error.line, error.what) from None
    return b""


def parse_lines(
    text: bytes, parse: Callable[[bytes], T | None], explain: Callable[[bytes], str]
) -> T:
    """Parse whole lines; if they are refused, find the first that is wrong, by halving.

    Parameters
    ----------
    parse
        Returns what is in some lines, or None if any of them is wrong.
    explain
        Says what is wrong with one line, and what was expected.
    """
    result = parse(text)
    if result is not None:
        return result
    lines = text.split(b"\n")
    first, end = 0, len(lines)
    while end - first > 1:
        middle = (first + end) // 2
        if parse(b"\n".join(lines[first:middle])) is None:
            end = middle
        else:
            first = middle
    raise LineError(first + 1, explain(lines[first]))
