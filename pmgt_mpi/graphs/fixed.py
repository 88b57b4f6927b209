"""Topologies without chance: lattices, hubs, and the exponential graph.

Every function has the signature of a drawn one, so that one call serves all; the
stream is left untouched.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations, pairwise
from typing import Any, Literal

import numpy as np

from pmgt_mpi.errors import UserError
from pmgt_mpi.graphs.links import Graph, check_number, linked
from pmgt_mpi.graphs.textfile import shortened
from pmgt_mpi.options import Count

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
