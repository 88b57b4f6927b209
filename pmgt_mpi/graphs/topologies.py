"""Topologies: lattices, hubs, the exponential graph, and random ones.

Every function has the same signature, so that one call serves all. Random graphs are
drawn from the graph's own stream until they are connected; the others leave it
untouched. networkx is imported where it draws: its import takes longer than all else
that agent 0 does at set-up, and all others wait for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import combinations, pairwise
from typing import Any, Literal

import numpy as np

from pmgt_mpi.errors import UserError, shortened
from pmgt_mpi.options import Count, Probability

Graph = Mapping[int, Collection[int]]
"""Each agent, and whom it is linked to: a dict, or a graph of networkx."""

MOST_EDGES = 20_000_000
"""Of a graph that is made here: some 4 GB on agent 0."""

DRAWS = 100
"""Disconnected graphs drawn before the parameters are refused."""

Rows = Count | Literal["auto"]


def ring(m: int, _rng: np.random.Generator) -> Graph:
    """A cycle in the order of the agents; two agents share one edge."""
    return linked(m, _cycle(m))


def path(m: int, _rng: np.random.Generator) -> Graph:
    """A line in the order of the agents: the worst connected graph."""
    return linked(m, pairwise(range(m)))


def star(m: int, _rng: np.random.Generator) -> Graph:
    """Agent 0 in the centre, all others linked to it alone."""
    return linked(m, ((0, agent) for agent in range(1, m)))


def complete(m: int, _rng: np.random.Generator) -> Graph:
    """Everybody linked to everybody: exact in one round with weights `laplacian`.

    Those, and `best-constant`, give the mean of all agents to each; `metropolis` ones
    are lazy, and need more rounds than one here too.
    """
    check_number(m * (m - 1) / 2, "complete", m)
    return linked(m, combinations(range(m), 2))


def sides(m: int, rows: Rows = "auto") -> tuple[int, int]:
    """Rows and columns of a lattice of m agents, as near to square as m allows.

    A prime m gives 1 × m.
    """
    if rows == "auto":
        nearest = next(r for r in range(math.isqrt(m), 0, -1) if m % r == 0)
        return nearest, m // nearest
    if m % rows:
        divisors = [r for r in range(1, m + 1) if m % r == 0]
        raise UserError(
            f"[network] rows = {shortened(rows)} does not divide the {m} agents; "
            f"expected one of {', '.join(map(str, divisors))}, or another number of "
            "ranks"
        )
    return rows, m // rows


def grid(m: int, _rng: np.random.Generator, *, rows: Rows = "auto") -> Graph:
    """A rectangle of agents, row by row, linked to the sides and up and down.

    Parameters
    ----------
    m
        Number of agents.
    rows
        A divisor of m; ``auto`` is the one nearest to square (1 for a prime m, which
        makes it a path).
    """
    return _lattice(*sides(m, rows), lambda side: list(pairwise(range(side))))


def torus(m: int, _rng: np.random.Generator, *, rows: Rows = "auto") -> Graph:
    """A grid whose opposite borders are linked.

    Parameters
    ----------
    m
        Number of agents.
    rows
        A divisor of m; ``auto`` is the one nearest to square (1 for a prime m, which
        makes it a ring). A side of two agents has one edge, not two.
    """
    return _lattice(*sides(m, rows), _cycle)


def hypercube(m: int, _rng: np.random.Generator) -> Graph:
    """Agents whose binary ids differ in one digit are linked; m is a power of two."""
    dimension = m.bit_length() - 1
    if m != 1 << dimension:
        raise UserError(
            f"topology 'hypercube' needs a power of two as number of agents, not "
            f"{m}; start {1 << dimension} or {2 << dimension} ranks, or choose "
            "'exponential'"
        )
    steps = [1 << k for k in range(dimension)]
    return linked(m, ((i, i ^ step) for step in steps for i in range(m)))


def exponential(m: int, _rng: np.random.Generator) -> Graph:
    """Agents 1, 2, 4, … ≤ m/2 steps apart on the ring are linked.

    The undirected form of the static exponential graph (Ying et al. 2021): about
    2 log₂ m neighbours, and a gap of order 1 / log₂ m.
    """
    return linked(m, ((i, (i + step) % m) for step in offsets(m) for i in range(m)))


def offsets(m: int) -> list[int]:
    """The powers of two up to m/2."""
    return [1 << k for k in range((m // 2).bit_length())]


def erdos_renyi(
    m: int,
    rng: np.random.Generator,
    *,
    probability: Probability | Literal["auto"] = "auto",
) -> Graph:
    """Every pair of agents is linked with the same probability.

    Parameters
    ----------
    m
        Number of agents.
    rng
        The graph's stream.
    probability
        ``auto`` is 2 ln m / m, twice the threshold of connectedness.
    """
    import networkx as nx

    p = min(1.0, 2 * math.log(m) / m) if probability == "auto" else probability
    check_number(p * m * (m - 1) / 2, "erdos-renyi", m)
    least = max(p, 1e-15)  # networkx divides by log(1 − p)
    return _connected(
        lambda: nx.fast_gnp_random_graph(m, least, seed=_seed(rng)),
        f"topology 'erdos-renyi' with probability = {p:.6g} on {m} agents",
        "raise probability",
    )


def random_regular(m: int, rng: np.random.Generator, *, degree: Count = 4) -> Graph:
    """A graph in which all agents have the same number of neighbours.

    Parameters
    ----------
    m
        Number of agents.
    rng
        The graph's stream.
    degree
        Neighbours of an agent: below m, and m · degree even.
    """
    if degree >= m:
        shown = shortened(degree)
        raise UserError(
            f"[network] degree = {shown} needs more than {shown} agents, and there "
            f"{'is 1' if m == 1 else f'are {m}'}; lower degree or start more ranks"
        )
    check_number(m * degree / 2, "random-regular", m)
    if m * degree % 2:
        raise UserError(
            f"[network] degree = {degree} on {m} agents: no such graph exists, as "
            "agents times degree must be even; make one of them even"
        )
    import networkx as nx

    return _connected(
        lambda: nx.random_regular_graph(degree, m, seed=_seed(rng)),
        f"topology 'random-regular' with degree = {degree} on {m} agents",
        "raise degree",
    )


def two_neighbours(m: int, rng: np.random.Generator) -> Graph:
    """A cycle through the agents in random order.

    The paper's "each agent is randomly connected to two neighbours", read as: it has
    two neighbours. λ₂ of `laplacian` weights is then cos²(π/m): 0.9755 at 20 agents,
    0.9698 at 18, the paper's 0.97.
    """
    agents = rng.permutation(m).tolist() if m > 1 else [0]
    return linked(m, ((agents[i], agents[j]) for i, j in _cycle(m)))


def random_two_out(m: int, rng: np.random.Generator) -> Graph:
    """Every agent picks two others, and is linked to them and to those who picked it.

    The other reading of the paper's "each agent is randomly connected to two
    neighbours": the mean degree is about 4, and λ₂ of `laplacian` weights about 0.90
    at 20 agents, not the paper's 0.97.
    """
    if m <= 3:
        return complete(m, rng)
    import networkx as nx

    agents = np.arange(m)

    def draw() -> Any:
        # Steps ahead on the circle of the others: two different ones of 1 … m − 1.
        first = rng.integers(1, m, size=m)
        second = rng.integers(1, m - 1, size=m)
        second += second >= first
        graph = nx.empty_graph(m)
        for steps in (first, second):
            picked = (agents + steps) % m
            graph.add_edges_from(zip(agents.tolist(), picked.tolist(), strict=True))
        return graph

    return _connected(
        draw, f"topology 'random-two-out' on {m} agents", "change the seed"
    )


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


def _cycle(m: int) -> list[tuple[int, int]]:
    """The edges of a ring of m; two share one, and a single one has none."""
    return [*pairwise(range(m)), *([(m - 1, 0)] if m > 2 else [])]


def _lattice(height: int, width: int, line: Callable[[int], list[Any]]) -> Graph:
    """Rows and columns of agents, in each of them the edges of `line`."""
    down = [
        (i * width + k, j * width + k) for i, j in line(height) for k in range(width)
    ]
    across = [
        (k * width + i, k * width + j) for k in range(height) for i, j in line(width)
    ]
    return linked(height * width, [*down, *across])


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(1 << 32))


def _connected(draw: Callable[[], Graph], what: str, remedy: str) -> Graph:
    import networkx as nx

    for _ in range(DRAWS):
        graph = draw()
        if nx.is_connected(graph):
            return graph
    raise UserError(f"{what}: none of {DRAWS} draws was connected; {remedy}")
