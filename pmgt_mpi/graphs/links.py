"""A graph as all here see it: each agent, and whom it is linked to.

A networkx graph is one, and so is a plain dict. The topologies that need no graph
library are such dicts: importing networkx takes longer than all else that agent 0 does
at set-up, and all others wait for it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

Graph = Mapping[int, Collection[int]]


def linked(m: int, edges: Iterable[tuple[int, int]]) -> Graph:
    """Give the graph on 0 … m − 1 with these edges, each named once or more often."""
    neighbours: dict[int, dict[int, None]] = {agent: {} for agent in range(m)}
    for i, j in edges:
        neighbours[i][j] = neighbours[j][i] = None
    return neighbours
