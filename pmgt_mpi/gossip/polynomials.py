"""Polynomials of W that bring the agents' vectors close to their mean.

Each is a three-term recurrence, one gossip round a term,

    x^{k+1} = (c_k W + d_k I) x^k + e_k x^{k−1},    x^{−1} = x^0,

with c_k + d_k + e_k = 1, so that the mean over the agents never changes. A mixing gives
the rows (c_k, d_k, e_k); row k does not depend on how many rounds follow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from math import inf, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.errors import UserError

Array = NDArray[Any]
Term = tuple[float, float, float]
Mixing = Callable[[float, float], Iterator[Term]]
"""Makes the terms from lambda_2 and lambda_min of W."""

MOST_ROUNDS = 100_000
"""Rounds beyond which a wanted contraction is refused."""


def plain(lambda_2: float, lambda_min: float) -> Iterator[Term]:  # noqa: ARG001
    """Plain gossip: x ← W x."""
    while True:
        yield 1.0, 0.0, 0.0


def server(lambda_2: float, lambda_min: float) -> Iterator[Term]:
    """No gossip: agent 0 takes the exact mean of all, as a server would."""
    return plain(lambda_2, lambda_min)


def fastmix(lambda_2: float, lambda_min: float) -> Iterator[Term]:
    """FastMix as the paper prints it: h = 1 / (1 + √(1 − λ²)) (Algorithm 2)."""
    lam = max(abs(lambda_2), abs(lambda_min))
    return _momentum(1 / (1 + sqrt(1 - lam**2)))


def fastmix_optimal(lambda_2: float, lambda_min: float) -> Iterator[Term]:
    """FastMix with Liu and Morse's h = (1 − s)/(1 + s), s = √(1 − λ²)."""
    s = sqrt(1 - max(abs(lambda_2), abs(lambda_min)) ** 2)
    return _momentum((1 - s) / (1 + s))


def _momentum(h: float) -> Iterator[Term]:
    """x^{k+1} = (1 + h) W x^k − h x^{k−1}; at first x^{−1} is x^0."""
    yield 1 + h, -h, 0.0
    while True:
        yield 1 + h, 0.0, -h


def chebyshev(lambda_2: float, lambda_min: float) -> Iterator[Term]:
    """Chebyshev semi-iteration on [λ_min, λ_2], the best polynomial there.

    With centre c and half-width δ of the interval and ζ = (1 − c)/δ,
    p_M(λ) = T_M((λ − c)/δ) / T_M(ζ). The ratios ω of successive T_M(ζ) are carried
    along instead of the T_M(ζ) themselves, which would overflow.
    """
    centre, half_width = (lambda_2 + lambda_min) / 2, (lambda_2 - lambda_min) / 2
    scale = 1 / (1 - centre)
    yield scale, -centre * scale, 0.0
    # An empty interval (complete graph, m = 2): one round is exact, the rest keep it.
    zeta = (1 - centre) / half_width if half_width > 0 else inf
    omega = 2.0
    while True:
        omega = 1 / (1 - omega / (4 * zeta**2))
        yield omega * scale, -omega * centre * scale, 1 - omega


def coefficients(
    mixing: Mixing, rounds: int, lambda_2: float, lambda_min: float
) -> Array:
    """Rows (c_k, d_k, e_k) of the first rounds."""
    terms = list(islice(mixing(lambda_2, lambda_min), rounds))
    return np.array(terms).reshape(rounds, 3)


def contractions(mixing: Mixing, lambda_2: float, lambda_min: float) -> Iterator[float]:
    """max |p_M(λ)| over λ in [λ_min, λ_2], for M = 1, 2 and so on."""
    # Chebyshev points: dense at the ends, where the polynomials are largest.
    angle = np.linspace(0, np.pi, 2001)
    lam = (lambda_2 + lambda_min) / 2 + np.cos(angle) * (lambda_2 - lambda_min) / 2
    before = now = np.ones_like(lam)
    for c, d, e in mixing(lambda_2, lambda_min):
        before, now = now, (c * lam + d) * now + e * before
        yield float(np.abs(now).max())


def contraction(
    mixing: Mixing, rounds: int, lambda_2: float, lambda_min: float
) -> float:
    """What so many rounds, at least one, contract to: not less with every round."""
    reached = contractions(mixing, lambda_2, lambda_min)
    return next(islice(reached, rounds - 1, None))


def rounds_for(
    mixing: Mixing, contraction: float, lambda_2: float, lambda_min: float
) -> int:
    """Smallest number of rounds M that contracts to `contraction` or below."""
    reached = contractions(mixing, lambda_2, lambda_min)
    for rounds, rho in enumerate(islice(reached, MOST_ROUNDS), start=1):
        if rho <= contraction:
            return rounds
    raise UserError(
        f"no number of mixing rounds up to {MOST_ROUNDS} contracts to {contraction:.3g}"
        f" on this network (lambda_2 = {lambda_2:.6g}); take a better connected graph,"
        " or give the rounds as a number"
    )
