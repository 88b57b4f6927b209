"""What is known of an algorithm while it runs, and when it is done."""

from __future__ import annotations

from typing import Any, NamedTuple

from numpy.typing import NDArray

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
