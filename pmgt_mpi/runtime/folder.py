"""The run folder: what a run leaves behind, written by agent 0 alone."""

from __future__ import annotations

import csv
import json
import math
import os
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import tomli_w

from pmgt_mpi.errors import UserError

SCHEMA = 1
"""Version of the folder's layout; it grows when a reader would have to change."""


class RunFolder:
    """A new folder for one run.

    Parameters
    ----------
    path
        Where it is to be; it must not exist.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.mkdir(parents=True)
            self._metrics = (path / "metrics.jsonl").open("w")
        except FileExistsError:
            raise UserError(
                f"the run folder {path} exists already; choose another with --out, or "
                "remove it"
            ) from None
        except OSError as error:
            raise UserError(
                f"cannot make the run folder {path}: {error.strerror}; choose another "
                "with --out"
            ) from None

    def record(self, record: dict[str, Any]) -> None:
        """Add a line to metrics.jsonl; it is on its way to the disk at once."""
        self._metrics.write(json.dumps(finite(record)) + "\n")
        self._metrics.flush()

    def write_json(self, name: str, content: Any) -> None:
        """Write a JSON file in one piece."""
        text = json.dumps(finite(content), indent=2, ensure_ascii=False)
        self._replace(name, (text + "\n").encode())

    def write_toml(self, name: str, content: dict[str, Any]) -> None:
        """Write a TOML file in one piece."""
        self._replace(name, tomli_w.dumps(content).encode())

    def write_csv(self, name: str, rows: list[dict[str, Any]]) -> None:
        """Write a table with a header."""
        with (self.path / name).open("w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)

    def write_solutions(self, solutions: dict[str, Any]) -> None:
        """Write the arrays of solution.npz."""
        # As numpy.savez does it, whose own parameters' names no array could have.
        with zipfile.ZipFile(self.path / "solution.npz", "w") as archive:
            for name, array in solutions.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                    np.lib.format.write_array(file, array, allow_pickle=False)

    def close(self) -> None:
        """Finish metrics.jsonl."""
        self._metrics.close()

    def _replace(self, name: str, content: bytes) -> None:
        temporary = self.path / f".{name}.part"
        temporary.write_bytes(content)
        temporary.replace(self.path / name)


def default_path(name: str) -> Path:
    """runs/NAME-DATE-TIME below the current folder, with a number if that is taken."""
    stamp = datetime.now(UTC).astimezone().strftime("%Y%m%d-%H%M%S")
    base = Path("runs") / f"{name}-{stamp}"
    path, number = base, 1
    while os.path.lexists(path):
        number += 1
        path = base.with_name(f"{base.name}-{number}")
    return path


def finite(value: Any) -> Any:
    """Give the same with None for what JSON cannot hold: infinities and NaN."""
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    if isinstance(value, float | np.floating):
        return float(value) if math.isfinite(value) else None
    return value
