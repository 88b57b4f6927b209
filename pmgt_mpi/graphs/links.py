"""A graph as all here see it: each agent, and whom it is linked to.

A networkx graph is one, and so is a plain dict. The topologies that need no graph
library are such dicts: importing networkx takes longer than all else that agent 0 does
at set-up, and all others wait for it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from pmgt_mpi.errors import UserError

Graph = Mapping[int, Collection[int]]

MOST_EDGES = 20_000_000
"""Of a graph that is made here: some 4 GB on agent 0."""


def check_number(edges: float, topology: str, m: int) -> None:
    """Refuse a graph of more edges than can be kept, before it is made."""
    if edges > MOST_EDGES:
        raise UserError(
            f"topology '{topology}' on {m:,} agents has {edges:,.0f} edges, and more "
            f"than {MOST_EDGES:,} are not made here; take one with fewer, such as "
            "'exponential'"
        )


def linked(m: int, edges: Iterable[tuple[int, int]]) -> Graph:
    """Return the graph on 0 … m − 1 with these edges, each named once or more often."""
    neighbours: dict[int, dict[int, None]] = {agent: {} for agent in range(m)}
    for i, j in edges:
        neighbours[i][j] = neighbours[j][i] = None
    return neighbours
