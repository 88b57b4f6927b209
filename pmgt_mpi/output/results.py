"""What an algorithm leaves when it is done, and the files that tell of it."""

from __future__ import annotations

from typing import Any, NamedTuple

from numpy.typing import NDArray

from pmgt_mpi.output.folder import RunFolder
from pmgt_mpi.terminal import say

Array = NDArray[Any]
Record = dict[str, Any]
"""One line of metrics.jsonl."""


class Finished(NamedTuple):
    """One algorithm's run, as agent 0 tells of it.

    Attributes
    ----------
    label, name
        Label and registered name of the algorithm.
    status, steps
        Why it stopped, and after how many steps.
    notes
        What the user was told before it started.
    parameters
        As used: every word of the config made a number.
    records
        All evaluations.
    x
        The average of the agents' iterates, on every agent.
    x_local
        This agent's own iterate.
    x_agents
        All agents' iterates, one row each; on agent 0 only.
    ranks, edges
        Rows of ranks.csv and edges.csv; on agent 0 only.
    advice
        What to change, if it diverged.
    """

    label: str
    name: str
    status: str
    steps: int
    notes: list[str]
    parameters: dict[str, Any]
    records: list[Record]
    x: Array
    x_local: Array
    x_agents: Array | None
    ranks: list[dict[str, Any]]
    edges: list[dict[str, Any]]
    advice: str | None = None


def write_results(
    folder: RunFolder,
    finished: list[Finished],
    common: dict[str, Any],
    reference: Array | None,
) -> None:
    """Write ranks.csv, edges.csv, solution.npz and summary.json, and tell the user.

    Parameters
    ----------
    common
        What summary.json says of every algorithm.
    reference
        The minimiser, if it is known.
    """
    from pmgt_mpi.output.table import summary_table

    summaries = [
        {
            **run.records[-1],
            "name": run.name,
            "status": run.status,
            **common,
            "parameters": run.parameters,
            "notes": run.notes,
            **({} if run.advice is None else {"advice": run.advice}),
        }
        for run in finished
    ]
    folder.write_csv("ranks.csv", [row for run in finished for row in run.ranks])
    edges = [row for run in finished for row in run.edges]
    if edges:
        folder.write_csv("edges.csv", edges)
    solutions: dict[str, Any] = {}
    for run in finished:
        solutions[run.label] = run.x
        solutions[f"{run.label}/agents"] = run.x_agents
    if reference is not None:
        solutions["reference"] = reference
    folder.write_solutions(solutions)
    folder.write_json("summary.json", summaries)  # last: with it the run is done
    folder.close()
    say(summary_table(summaries))
    for run in finished:
        if run.advice is not None:
            say(run.advice)
    say(f"run folder: {folder.path}")


def traffic_across_hosts(run: Finished) -> dict[str, Any]:
    """Messages and bytes that an algorithm has sent between hosts."""
    hosts = {row["agent"]: row["host"] for row in run.ranks}
    between = [e for e in run.edges if hosts[e["agent"]] != hosts[e["neighbour"]]]
    return {
        "algorithm": run.label,
        "messages": sum(edge["messages_sent"] for edge in between),
        "bytes": sum(edge["bytes_sent"] for edge in between),
    }
