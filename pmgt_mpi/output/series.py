"""The folder of a series of runs, a study or a tuning: one line for each run.

A line of runs.jsonl says that a run begins, that it has ended and how, or that it was
interrupted. So a series that was killed continues with what is missing; a run that has
begun twice and never ended, as it ends the job whenever it is tried, is left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar

from pmgt_mpi.errors import UserError
from pmgt_mpi.output.folder import RunFolder, finite
from pmgt_mpi.output.looking import SCHEMA, is_there
from pmgt_mpi.output.reading import Record, broken, leaves, read_json, read_records

Result = dict[str, Any]
"""What is kept of a run; `status` says how it ended."""

TRIES = 2
"""Times that a run may begin without an end."""

FAILED = "failed"
"""Status of a run that has ended the job each time."""

REFUSED = "refused"
"""Status of a run that cannot be done as asked; it is tried again the next time."""


class SeriesFolder(RunFolder):
    """The folder of a series: made, or continued if the same was asked for in it.

    Parameters
    ----------
    path
        Where it is, or is to be.
    kind
        ``study`` or ``tuning``: the name of the file that tells what it is.
    head
        What that file holds. Under ``asked`` is what must be the same where the series
        is continued.

    Attributes
    ----------
    results
        Of the runs that are done, by their keys, and of those that failed.
    """

    LINES: ClassVar[str] = "runs.jsonl"
    AGAIN: ClassVar[str] = "the same command and --out {path}"

    def __init__(self, path: Path, kind: str, head: dict[str, Any]) -> None:
        there = is_there(path / self.LINES)
        if is_there(path) and not there:
            raise UserError(
                f"{path} exists already and holds no {kind}; choose another folder "
                "with --out, or remove it"
            )
        super().__init__(path, reopen=there)
        self.results: dict[str, Result] = {}
        if there:
            try:
                self._continue(kind, head)
            except UserError:
                self.close()
                raise
        self.take_up()  # nothing is refused any more
        self.write_json(f"{kind}.json", head)

    def _continue(self, kind: str, head: dict[str, Any]) -> None:
        if not is_there(self.path / f"{kind}.json"):
            self.cut_metrics(0)  # killed before it told what it is
            return
        refuse_other(self.path, kind, read_json(self.path, f"{kind}.json"), head)
        records, length = whole_lines(self.path)
        self.cut_metrics(length)
        self.results = results_of(self.path / self.LINES, records)

    def begin(self, key: str, tags: Result) -> None:
        """Take note that a run begins; `tags` tell which, if nothing else will."""
        self.record({"begin": key, "tags": tags})

    def end(self, key: str, result: Result) -> None:
        """Keep the result of a run."""
        self.record({"end": key, "result": result})
        self.results[key] = result

    def interrupt(self, key: str) -> None:
        """Take note that a run was ended from outside: it is no fault of its own."""
        self.record({"interrupted": key})


def whole_lines(path: Path) -> tuple[list[Record], int]:
    """Read the lines that are whole, and tell their length."""
    name = SeriesFolder.LINES
    content = (path / name).read_bytes()
    length = content.rfind(b"\n") + 1
    records = read_records(path / name)
    return records[: content[:length].count(b"\n")], length


def results_of(path: Path, records: Iterable[Record]) -> dict[str, Result]:
    """Return the results of all runs that have ended or failed, by key."""
    results: dict[str, Result] = {}
    begun: dict[str, list[Result]] = {}
    for number, record in enumerate(records, 1):
        try:
            if "end" in record:
                results[record["end"]] = dict(record["result"])
            elif "begin" in record:
                begun.setdefault(record["begin"], []).append(dict(record["tags"]))
            else:
                begun.pop(record["interrupted"], None)
        except (LookupError, TypeError, ValueError):
            raise broken(path, f"line {number} tells of no run") from None
    for key, tags in begun.items():
        if len(tags) >= TRIES and key not in results:
            results[key] = {**tags[-1], "status": FAILED}
    return results


def refuse_schema(path: Path, head: dict[str, Any]) -> None:
    """Refuse what another version has written."""
    schema = head.get("schema")
    if schema != SCHEMA:
        raise UserError(
            f"{path} was written by another version of pmgt_mpi (schema {schema}, and "
            f"this one reads {SCHEMA}); use that version for it, or choose another "
            "folder with --out"
        )


def refuse_other(
    path: Path, kind: str, before: dict[str, Any], now: dict[str, Any]
) -> None:
    """Refuse to continue what was not asked for like this."""
    refuse_schema(path, before)
    asked = before.get("asked")
    if not isinstance(asked, dict):
        raise broken(path / f"{kind}.json", "it does not say what was asked for")
    written = json.loads(json.dumps(finite(now["asked"])))
    old, new = dict(leaves(asked)), dict(leaves(written))
    for key in dict.fromkeys([*old, *new]):
        if old.get(key) != new.get(key):
            raise UserError(
                f"the {kind} in {path} is another: {key} is {new.get(key)!r}, and was "
                f"{old.get(key)!r}; give the same command as then, or choose another "
                "folder with --out"
            )
