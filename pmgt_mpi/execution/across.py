"""What crosses hosts: edges of the network, messages and bytes of an algorithm."""

from __future__ import annotations

from typing import Any

from pmgt_mpi.execution.stage import Stage
from pmgt_mpi.output.results import Finished


def edges_across(stage: Stage, hosts: list[str]) -> int:
    """Count the edges between agents on different hosts; collective.

    Parameters
    ----------
    hosts
        The host of each agent.
    """
    here = stage.neighbourhood
    ends = sum(hosts[other] != hosts[here.agent] for other in here.neighbours)
    return int(sum(stage.collective.gather(ends))) // 2


def traffic_across(run: Finished) -> dict[str, Any]:
    """Messages and bytes that an algorithm has sent between hosts."""
    hosts = {row["agent"]: row["host"] for row in run.ranks}
    between = [e for e in run.edges if hosts[e["agent"]] != hosts[e["neighbour"]]]
    return {
        "algorithm": run.label,
        "messages": sum(edge["messages_sent"] for edge in between),
        "bytes": sum(edge["bytes_sent"] for edge in between),
    }
