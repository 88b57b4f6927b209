"""Topologies without chance: lattices, hubs, and the exponential graph.

Every function has the signature of a drawn one, so that one call serves all; the
stream is left untouched.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

import networkx as nx
import numpy as np

from pmgt_mpi.errors import UserError
from pmgt_mpi.options import Count

Rows = Count | Literal["auto"]


def ring(m: int, _rng: np.random.Generator) -> nx.Graph:
    """A cycle in the order of the agents; two agents share one edge."""
    return nx.cycle_graph(m) if m > 2 else nx.path_graph(m)


def path(m: int, _rng: np.random.Generator) -> nx.Graph:
    """A line in the order of the agents: the worst connected graph."""
    return nx.path_graph(m)


def star(m: int, _rng: np.random.Generator) -> nx.Graph:
    """Agent 0 in the centre, all others linked to it alone."""
    return nx.star_graph(m - 1)


def complete(m: int, _rng: np.random.Generator) -> nx.Graph:
    """Everybody linked to everybody: one plain round is an exact average."""
    return nx.complete_graph(m)


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
            f"[network] rows = {rows} does not divide the {m} agents; expected one "
            f"of {', '.join(map(str, divisors))}, or another number of ranks"
        )
    return rows, m // rows


def grid(m: int, _rng: np.random.Generator, *, rows: Rows = "auto") -> nx.Graph:
    """A rectangle of agents, row by row, linked to the sides and up and down.

    Parameters
    ----------
    m
        Number of agents.
    rows
        A divisor of m; ``auto`` is the one nearest to square (1 for a prime m, which
        makes it a path).
    """
    return nx.convert_node_labels_to_integers(nx.grid_2d_graph(*sides(m, rows)))


def torus(m: int, _rng: np.random.Generator, *, rows: Rows = "auto") -> nx.Graph:
    """A grid whose opposite borders are linked.

    Parameters
    ----------
    m
        Number of agents.
    rows
        A divisor of m; ``auto`` is the one nearest to square (1 for a prime m, which
        makes it a ring). A side of two agents has one edge, not two.
    """
    lattice = nx.grid_2d_graph(*sides(m, rows), periodic=True)
    return nx.convert_node_labels_to_integers(lattice)


def hypercube(m: int, _rng: np.random.Generator) -> nx.Graph:
    """Agents whose binary ids differ in one digit are linked; m is a power of two."""
    dimension = m.bit_length() - 1
    if m != 1 << dimension:
        raise UserError(
            f"topology 'hypercube' needs a power of two as number of agents, not "
            f"{m}; start {1 << dimension} or {2 << dimension} ranks, or choose "
            "'exponential'"
        )
    return _linked(m, [1 << k for k in range(dimension)], np.bitwise_xor)


def exponential(m: int, _rng: np.random.Generator) -> nx.Graph:
    """Agents 1, 2, 4, … ≤ m/2 steps apart on the ring are linked.

    The undirected form of the static exponential graph (Ying et al. 2021): about
    2 log₂ m neighbours, and a gap of order 1 / log₂ m.
    """
    return _linked(m, offsets(m), lambda i, offset: (i + offset) % m)


def offsets(m: int) -> list[int]:
    """The powers of two up to m/2."""
    return [1 << k for k in range((m // 2).bit_length())]


def _linked(m: int, steps: list[int], other_end: Callable[[Any, int], Any]) -> nx.Graph:
    graph = nx.empty_graph(m)
    agents = np.arange(m)
    for step in steps:
        graph.add_edges_from(
            zip(agents.tolist(), other_end(agents, step).tolist(), strict=True)
        )
    return graph
