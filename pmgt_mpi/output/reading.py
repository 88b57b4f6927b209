"""Reading the files of a run folder; what is wrong with one is told in a sentence."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from json import JSONDecodeError
from pathlib import Path
from typing import Any

from pmgt_mpi.errors import UserError
from pmgt_mpi.output.looking import read_plain

Record = dict[str, Any]
"""One line of metrics.jsonl, or one row of another table."""

WORDS = ("algorithm", "host")
"""Columns of ranks.csv and edges.csv that are not numbers."""

MOST = 2.0**63
"""Below it are all numbers of seconds, agents and counts."""


def read_records(path: Path) -> list[Record]:
    """Read metrics.jsonl; the last line may be half-written: the run may last."""
    records = []
    *lines, rest = read_text(path.parent, path.name).split("\n")
    for number, line in enumerate([*lines, *([rest] if rest else [])], 1):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            if number > len(lines):
                break
            raise broken(path, f"line {number}: {_reason(error)}") from None
        if not isinstance(record, dict):
            raise broken(path, f"line {number} is not a record")
        records.append(record)
    return records


def read_table(path: Path, name: str, keys: tuple[str, ...]) -> list[Record]:
    """Read a CSV file whose columns are numbers, but for labels and hosts."""
    reader = csv.DictReader(io.StringIO(read_text(path, name), newline=""))
    rows: list[Record] = []
    try:
        for row in reader:
            rows.append({key: _value(key, word) for key, word in row.items()})
    except (TypeError, ValueError, csv.Error):  # a field too few, too many, no number
        number = reader.line_num
        raise broken(path / name, f"line {number} is cut off or garbled") from None
    check_keys(path / name, rows, keys)
    return rows


def _value(key: str, word: str) -> str | float:
    if key in WORDS:
        return word
    number = float(word)
    if not abs(number) < MOST:
        raise ValueError
    return number


def check_keys(path: Path, rows: list[Any], keys: tuple[str, ...]) -> None:
    """Refuse a table without rows, or one whose rows lack something."""
    if not rows:
        raise broken(path, "it has no rows")
    for number, row in enumerate(rows, 1):
        missing = [key for key in keys if key not in row]
        if missing:
            raise broken(path, f"record {number} lacks '{missing[0]}'")


def read_json(path: Path, name: str) -> Any:
    """Read a JSON file of a folder."""
    try:
        return json.loads(read_text(path, name))
    except (ValueError, RecursionError) as error:
        line = f"line {error.lineno}: " if isinstance(error, JSONDecodeError) else ""
        raise broken(path / name, f"{line}{_reason(error)}") from None


def _reason(error: Exception) -> str:
    """Say why JSON could not be read: also for its depth, or for a number's length."""
    return error.msg if isinstance(error, JSONDecodeError) else str(error)


def read_text(path: Path, name: str) -> str:
    """Read a text file that a run folder must have."""
    try:
        return read_plain(path / name).decode()  # with the ends of lines in labels
    except FileNotFoundError:
        raise UserError(
            f"{path} has no {name}: the run folder is not whole; copy it again, or "
            "leave it out"
        ) from None
    except UnicodeDecodeError as error:
        raise broken(path / name, f"it is not text ({error.reason})") from None
    except OSError as error:
        raise UserError(f"cannot read {path / name}: {error.strerror}") from None


def leaves(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """Values of nested tables, and of lists of tables, by their dotted keys."""
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        items = {str(k): item for k, item in enumerate(value)}.items()
    else:
        yield key, value
        return
    for name, item in items:
        yield from leaves(item, f"{key}.{name}".strip("."))


def broken(path: Path, what: str) -> UserError:
    """Say that a file is broken, and how."""
    return UserError(
        f"{path} is broken: {what}; copy the run folder again, or run it again"
    )
