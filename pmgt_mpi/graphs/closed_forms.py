"""Extreme eigenvalues of the Laplacians that are known in closed form.

Lattices are products of paths and cycles: eigenvalues of a product are sums of one
eigenvalue of each factor, and 0 is one of each.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pmgt_mpi.graphs.spectrum import Extremes
from pmgt_mpi.graphs.topologies import Rows, offsets, sides


def _sin2(numerator: int, denominator: int) -> float:
    """4 sin²(π numerator / denominator), which 2 − 2 cos would round away."""
    return float(4 * np.sin(np.pi * numerator / denominator) ** 2)


def ring(m: int) -> Extremes:
    """4 sin²(π j / m), j = 1 … m − 1; two agents have one edge, not two."""
    return Extremes(_sin2(1, m), _sin2(m // 2, m)) if m > 2 else Extremes(2.0, 2.0)


def path(m: int) -> Extremes:
    """4 sin²(π j / 2m), j = 1 … m − 1."""
    return Extremes(_sin2(1, 2 * m), _sin2(m - 1, 2 * m))


def star(m: int) -> Extremes:
    """1, m − 2 times, and m."""
    return Extremes(1.0 if m > 2 else 2.0, float(m))


def complete(m: int) -> Extremes:
    """m, m − 1 times."""
    return Extremes(float(m), float(m))


def _product(factor: Callable[[int], Extremes], *lengths: int) -> Extremes:
    factors = [factor(length) for length in lengths if length > 1]
    return Extremes(
        min(extremes.smallest for extremes in factors),
        sum(extremes.largest for extremes in factors),
    )


def grid(m: int, *, rows: Rows = "auto") -> Extremes:
    """Sums over the two sides of a path's."""
    return _product(path, *sides(m, rows))


def torus(m: int, *, rows: Rows = "auto") -> Extremes:
    """Sums over the two sides of a ring's."""
    return _product(ring, *sides(m, rows))


def hypercube(m: int) -> Extremes:
    """2 j, j = 0 … log₂ m."""
    return Extremes(2.0, 2.0 * (m.bit_length() - 1))


def exponential(m: int) -> Extremes:
    """Σ_o 4 sin²(π j o / m) over the offsets o, as of any circulant matrix."""
    j = np.arange(1, m // 2 + 1)  # j and m − j have the same eigenvalue
    eigenvalues = np.zeros(j.size)
    for offset in offsets(m):
        edges = 0.5 if 2 * offset == m else 1.0  # across: one edge for two agents
        # j · offset modulo m keeps the argument, and with it the error, small.
        eigenvalues += edges * 4 * np.sin(np.pi * (j * offset % m) / m) ** 2
    return Extremes(float(eigenvalues.min()), float(eigenvalues.max()))


CLOSED_FORMS: dict[str, Callable[..., Extremes]] = {
    "ring": ring,
    "path": path,
    "star": star,
    "complete": complete,
    "grid": grid,
    "torus": torus,
    "hypercube": hypercube,
    "exponential": exponential,
    "two-neighbours": ring,
}
"""For each topology a function of m ≥ 2 and of the topology's own options."""
