"""The results file, by which a second start runs only what is not there."""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path

from lab_base import Lab, Record
from trial_grids import Point, options


class Book:
    """The results file: one line for each run of a trial."""

    def __init__(self, path: Path, write: bool) -> None:
        self.path, self.write = path, write
        self.lines: defaultdict[str, list[Record]] = defaultdict(list)
        if path.exists():
            text = path.read_text()
            whole = text[: text.rfind("\n") + 1]
            if write and whole != text:  # killed while it wrote a line
                path.write_text(whole)
            for line in whole.splitlines():
                record = json.loads(line)
                self.lines[record["key"]].append(record)

    def run(
        self,
        lab: Lab,
        case: str,
        method: str,
        point: Point,
        run: int,
        target: float,
        budget: float,
    ) -> Record:
        """Return a run's record, from the file if it is there.

        A longer run that used up its budget tells nothing of where this one ends.
        `case` names the lab, and `run` is the seed.
        """
        key = f"{case} {method} {point} {run}"
        for known in self.lines[key]:
            ended = known["status"] != "budget" and known["cost"] <= budget
            if ended or abs(known["budget"] - budget) < 1e-6 * budget:
                return known
        values = options(method, point, lab)
        record = {"key": key, "run": run, "budget": budget, "values": values}
        record |= lab.run(method, values, run, target, budget)
        self.lines[key].append(record)
        if self.write:
            with self.path.open("a") as file:
                file.write(json.dumps(record) + "\n")
            print(key, *(f"{k}={v}" for k, v in record.items() if k != "key"))
            sys.stdout.flush()
        return record
