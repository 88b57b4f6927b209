"""Reading the files of a run folder; what is wrong with one is told in a sentence."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

from pmgt_mpi.errors import UserError

Record = dict[str, Any]
"""One line of metrics.jsonl, or one row of another table."""

WORDS = ("algorithm", "host")
"""Columns of ranks.csv and edges.csv that are not numbers."""


def read_records(path: Path) -> list[Record]:
    """Read metrics.jsonl; the last line may be half-written, as the run may go on."""
    records = []
    lines = read_text(path.parent, path.name).splitlines(keepends=True)
    for number, line in enumerate(lines, 1):
        try:
            record = json.loads(line)
        except json.JSONDecodeError as error:
            if number == len(lines) and not line.endswith("\n"):
                break
            raise broken(path, f"line {number}: {error.msg}") from None
        if not isinstance(record, dict):
            raise broken(path, f"line {number} is not a record")
        records.append(record)
    return records


def read_table(path: Path, name: str, keys: tuple[str, ...]) -> list[Record]:
    """Read a CSV file whose columns are numbers, but for labels and hosts."""
    reader = csv.DictReader(read_text(path, name).splitlines())
    rows: list[Record] = []
    for number, row in enumerate(reader, 2):
        try:
            rows.append(
                {
                    key: word if key in WORDS else float(word)
                    for key, word in row.items()
                }
            )
        except (TypeError, ValueError):  # a field too few, too many, or no number
            raise broken(path / name, f"line {number} is cut off or garbled") from None
    check_keys(path / name, rows, keys)
    return rows


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
    except json.JSONDecodeError as error:
        raise broken(path / name, f"line {error.lineno}: {error.msg}") from None


def read_text(path: Path, name: str) -> str:
    """Read a text file that a run folder must have."""
    try:
        return (path / name).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UserError(
            f"{path} has no {name}: the run folder is not whole; copy it again, or "
            "leave it out"
        ) from None
    except UnicodeDecodeError as error:
        raise broken(path / name, f"it is not text ({error.reason})") from None
    except OSError as error:
        raise UserError(f"cannot read {path / name}: {error.strerror}") from None


def broken(path: Path, what: str) -> UserError:
    """Say that a file is broken, and how."""
    return UserError(
        f"{path} is broken: {what}; copy the run folder again, or run it anew"
    )
