"""Reading run folders: whole ones, those of running jobs, and broken ones."""

from __future__ import annotations

import os
import platform
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pmgt_mpi.errors import UserError
from pmgt_mpi.options import has_large
from pmgt_mpi.output.looking import refuse_schema
from pmgt_mpi.output.reading import (
    Record,
    broken,
    read_json,
    read_records,
    read_table,
    read_text,
)
from pmgt_mpi.output.shapes import CONFIG, META, RECORDS, SUMMARIES, check_shape

COSTS = ("gradients", "rounds", "messages", "bytes", "seconds")
"""What a record says that it has cost to come so far."""

RANK_KEYS = (
    "algorithm", "agent", "compute_seconds", "comm_seconds", "evaluation_seconds",
)  # fmt: skip


class EmptyRunError(UserError):
    """A run that has not evaluated anything yet: worth waiting for, if it lives."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"{path}: metrics.jsonl is empty; the run is still being set up, or it "
            "ended before its first evaluation"
        )
        # meta.json is written when the set-up is done.
        self.killed = (path / "meta.json").exists() and was_killed(_meta(path))


@dataclass(frozen=True)
class Run:
    """What a run folder holds.

    Attributes
    ----------
    path
        The folder.
    name
        As the config says; the folder's own name tells two runs of it apart.
    traces
        The records of each algorithm, by its label, in the order in which they ran.
    meta, config
        Of meta.json and config.toml.
    config_text
        config.toml as it stands.
    summary
        Of summary.json, by label; None while it runs.
    ranks
        Rows of ranks.csv; none while it runs.
    edges
        Pairs i < j of neighbours; None if the folder does not say.
    """

    path: Path
    name: str
    traces: dict[str, list[Record]]
    meta: dict[str, Any]
    config: dict[str, Any]
    config_text: str
    summary: dict[str, Record] | None
    ranks: list[Record]
    edges: list[tuple[int, int]] | None

    @property
    def agents(self) -> int:
        """Number of agents, m."""
        return len(self.meta["hosts"])

    @property
    def ended(self) -> bool:
        """Whether the run has written its summary, which it does last."""
        return self.summary is not None

    def status(self, label: str) -> str:
        """How an algorithm ended, or how far it is.

        Algorithms run one after the other: all but the last one seen are done, though
        why they stopped is told at the end.
        """
        if self.summary is not None:
            return str(self.summary.get(label, {"status": "interrupted"})["status"])
        if label != list(self.traces)[-1]:
            return "done"
        return "killed" if self.killed else "running"

    @property
    def killed(self) -> bool:
        """Whether the run is gone and will never write its summary."""
        # The summary may have come since it was looked for.
        gone = not self.ended and was_killed(self.meta)
        return gone and not (self.path / "summary.json").exists()

    def to_come(self) -> list[str]:
        """Labels of the algorithms that have not begun."""
        labels = [part["label"] for part in self.config["algorithm"]]
        return [label for label in labels if label not in self.traces]


def read_run(path: Path) -> Run:
    """Read a run folder; say what is wrong with it in a `UserError`."""
    metrics = path / "metrics.jsonl"
    try:
        there, whole = path.exists(), metrics.is_file()
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from None
    if not there:
        raise UserError(f"no run folder {path}; correct the path")
    if not whole:
        raise UserError(
            f"{path} is not a run folder: it has no metrics.jsonl; name a folder that "
            "python -m pmgt_mpi.run has made"
        )
    # Before the metrics: if the run ends in between, it is seen as one that runs.
    summary = _summary(path)
    records = read_records(metrics)
    if not records:
        raise EmptyRunError(path)
    check_shape(metrics, records, RECORDS)
    traces: dict[str, list[Record]] = {}
    for record in records:
        traces.setdefault(record["algorithm"], []).append(record)
    meta = _meta(path)
    config_text = read_text(path, "config.toml")
    try:
        config = tomllib.loads(config_text)
    except (ValueError, RecursionError) as error:  # not only of TOML: a number's length
        raise broken(path / "config.toml", str(error)) from None
    check_shape(path / "config.toml", config, CONFIG)
    if has_large(config):
        raise broken(path / "config.toml", "it holds an integer of more than 64 bits")
    for label, end in (summary or {}).items():
        last = traces[label][-1]["step"] if label in traces else "none"
        if last != end["step"]:
            raise broken(
                metrics,
                f"its last record of {label} is that of step {last}, but summary.json "
                f"tells of step {end['step']}",
            )
    return Run(
        path=path,
        name=str(config["run"].get("name", path.name)),
        traces=traces,
        meta=meta,
        config=config,
        config_text=config_text,
        summary=summary,
        ranks=read_table(path, "ranks.csv", RANK_KEYS) if summary is not None else [],
        edges=_edges(path, meta),
    )


def was_killed(meta: dict[str, Any]) -> bool:
    """Whether agent 0 of a run ran on this host and is there no more."""
    pid = meta.get("pid")
    if pid is None or meta["hosts"][0] != platform.node():
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:  # it is there, and another user's
        return False
    stat = Path(f"/proc/{pid}/stat")
    # Dead, but nobody has asked for its exit code: in a container perhaps nobody will.
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] == "Z"


def _summary(path: Path) -> dict[str, Record] | None:
    if not (path / "summary.json").exists():
        return None
    summaries = read_json(path, "summary.json")
    check_shape(path / "summary.json", summaries, SUMMARIES)
    return {summary["algorithm"]: summary for summary in summaries}


def _meta(path: Path) -> dict[str, Any]:
    meta = read_json(path, "meta.json")
    check_shape(path / "meta.json", meta, META)
    refuse_schema(path)
    return dict(meta)


def _edges(path: Path, meta: dict[str, Any]) -> list[tuple[int, int]] | None:
    """Of meta.json; folders of earlier versions have them in edges.csv alone."""
    if meta.get("neighbours") is not None:
        pairs = [(i, j) for i, row in enumerate(meta["neighbours"]) for j in row]
    elif (path / "edges.csv").exists():
        rows = read_table(path, "edges.csv", ("agent", "neighbour"))
        pairs = [(int(row["agent"]), int(row["neighbour"])) for row in rows]
    else:
        return [] if len(meta["hosts"]) == 1 else None
    if any(not 0 <= j < len(meta["hosts"]) for pair in pairs for j in pair):
        raise broken(path, "an agent has a neighbour that is none of the agents")
    return sorted({(i, j) for i, j in pairs if i < j})
