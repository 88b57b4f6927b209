"""Which agent sits on which host, so that few edges of the graph cross hosts.

A host has as many seats as ranks. Agent 0 sits on the first host, where rank 0 is. Any
placement gives the same bits: shard, streams and sums follow the agent, not the rank.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

import numpy as np

from pmgt_mpi.errors import UserError, shortened
from pmgt_mpi.graphs.network import Network
from pmgt_mpi.graphs.topologies import sides

if TYPE_CHECKING:
    import networkx as nx

REFINED_UP_TO = 3000
"""Agents up to which cuts are refined by exchanges, which takes seconds beyond."""

Blocks = list[list[int]]
"""The agents of each host."""


def place(
    network: Network, hosts: Sequence[str], wanted: str | list[int], rows: object = None
) -> list[int]:
    """Return the agent of each rank.

    Parameters
    ----------
    network
        Whose edges are counted.
    hosts
        The host of each rank.
    wanted
        ``"none"`` (agent i on rank i), ``"auto"``, or the agents themselves.
    rows
        Option of a grid or torus: rows of the lattice.
    """
    agents = list(range(network.agents))
    if isinstance(wanted, list):
        if sorted(wanted) != agents or wanted[0] != 0:
            raise UserError(
                f"[network] placement = {shortened(wanted)}: expected the agent of "
                f"each of the {len(agents)} ranks, every id from 0 to "
                f'{len(agents) - 1} once and 0 first, or "auto" or "none"'
            )
        return wanted
    names = list(dict.fromkeys(hosts))
    if wanted == "none" or len(names) == 1:
        return agents
    seats = [[rank for rank in agents if hosts[rank] == name] for name in names]
    sizes = [len(own) for own in seats]
    # As they are comes first: of equals it is taken.
    candidates = [[[*own] for own in seats]]
    candidates += _candidates(network, sizes, rows)
    best = min(candidates, key=lambda blocks: crossing(network, host_of(blocks)))
    placed = agents.copy()
    for own, block in zip(seats, _first_with_0(best), strict=True):
        for rank, agent in zip(own, sorted(block), strict=True):
            placed[rank] = agent
    return placed


def crossing(network: Network, hosts: Sequence[object]) -> int:
    """Count the edges whose ends, agents, sit on different hosts."""
    _, numbers = np.unique([str(host) for host in hosts], return_inverse=True)
    ends = numbers[network.W.rows], numbers[network.W.columns]
    return int(np.count_nonzero(ends[0] != ends[1])) // 2


def host_of(blocks: Blocks) -> list[int]:
    """Return the host of each agent."""
    hosts = [0] * sum(map(len, blocks))
    for host, block in enumerate(blocks):
        for agent in block:
            hosts[agent] = host
    return hosts


def _first_with_0(blocks: Blocks) -> Blocks:
    """Let the first host have agent 0: its block changes places, or agent 0 does."""
    at = next(host for host, block in enumerate(blocks) if 0 in block)
    if len(blocks[at]) == len(blocks[0]):
        blocks[0], blocks[at] = blocks[at], blocks[0]
    else:
        other = blocks[0].pop()
        blocks[0].append(0)
        blocks[at].remove(0)
        blocks[at].append(other)
    return blocks


def _candidates(network: Network, sizes: list[int], rows: object) -> Iterator[Blocks]:
    yield _cut(list(range(network.agents)), sizes)
    if network.topology in ("ring", "path"):
        return  # consecutive agents: one edge a border, and no placement has fewer
    if network.topology in ("grid", "torus"):
        tiles = _tiles(network.agents, sizes, rows or "auto")
        yield from tiles
        if tiles:
            return
    import networkx as nx  # where a graph is to be cut, and not for every run

    from pmgt_mpi.graphs.given_graph import support

    graph = support(network.W.csr())
    walk = list(nx.dfs_preorder_nodes(graph, 0))  # along a cycle, as two-neighbours are
    narrow = list(nx.utils.reverse_cuthill_mckee_ordering(graph))
    narrow = narrow[narrow.index(0) :] + narrow[: narrow.index(0)]
    for order in (walk, narrow, *_metis(graph, sizes)):
        blocks = _cut(order, sizes)
        yield blocks
        if network.agents <= REFINED_UP_TO:
            yield _refined(graph, [[*block] for block in blocks])


def _cut(order: list[int], sizes: list[int]) -> Blocks:
    """Consecutive agents of an order to each host."""
    return [order[a:b] for a, b in pairwise(accumulate([0, *sizes]))]


def _metis(graph: nx.Graph, sizes: list[int]) -> Iterator[list[int]]:
    """The agents in the order of METIS' parts, where the extra `metis` is installed.

    Its parts are nearly of the wanted sizes; `_cut` makes them so.
    """
    try:
        import pymetis
    except ImportError:
        return
    near = [list(graph[agent]) for agent in range(len(graph))]
    shares = [size / len(graph) for size in sizes]
    _, parts = pymetis.part_graph(len(sizes), adjacency=near, tpwgts=shares)
    yield sorted(range(len(graph)), key=lambda agent: parts[agent])


def _tiles(m: int, sizes: list[int], rows: object) -> list[Blocks]:
    """Rectangles of a lattice, all ways to tile it with one for each of equal hosts."""
    if len(set(sizes)) > 1:
        return []
    height, width = sides(m, rows)  # type: ignore[arg-type]
    ways = []
    for down in range(1, len(sizes) + 1):
        across, rest = divmod(len(sizes), down)
        if rest or height % down or width % across:
            continue
        a, b = height // down, width // across
        blocks: Blocks = [[] for _ in sizes]
        for agent in range(m):
            i, j = divmod(agent, width)
            blocks[(i // a) * across + j // b].append(agent)
        ways.append(blocks)
    return ways


def _refined(graph: nx.Graph, blocks: Blocks) -> Blocks:
    """Exchange agents between pairs of hosts as long as that saves edges.

    Kernighan and Lin's exchanges, from networkx: they keep the size of both blocks.
    """
    import networkx as nx

    improved = True
    while improved:
        improved = False
        for a in range(len(blocks)):
            for b in range(a):
                two = graph.subgraph(blocks[a] + blocks[b])
                before = nx.cut_size(two, blocks[a], blocks[b])
                if before == 0:
                    continue
                new = nx.community.kernighan_lin_bisection(
                    two, (set(blocks[a]), set(blocks[b])), seed=0
                )
                fits = [len(side) for side in new] == [len(blocks[a]), len(blocks[b])]
                if fits and nx.cut_size(two, *new) < before:
                    blocks[a], blocks[b] = (sorted(side) for side in new)
                    improved = True
    return blocks
