"""The proximal equation of one row, which is in one unknown."""

from __future__ import annotations

from collections.abc import Callable

MOST = 200
"""Steps: a bisection alone reaches rounding in fewer, from any numbers."""


def proximal_slope(
    slope: Callable[[float], float],
    curvature: Callable[[float], float],
    k: float,
    r: float,
) -> float:
    """φ'(ζ) where ζ + k φ'(ζ) = r, for a convex φ and k > 0.

    The left side rises at least as fast as ζ, and ζ lies between r and r − k φ'(r).
    Newton's step is taken where it stays between the ends and is at most half of the
    step before; else the interval is halved. Newton alone fails for k of 32 and more on
    the logistic loss, and between the ends it can still go in a circle.

    Parameters
    ----------
    slope, curvature
        φ' and φ''.
    k, r
        Of the equation.
    """
    other = r - k * slope(r)
    low, high = min(other, r), max(other, r)
    at, step = r, high - low
    for _ in range(MOST):
        excess = at - r + k * slope(at)
        if excess == 0:
            break
        low, high = (at, high) if excess < 0 else (low, at)
        newton = -excess / (1 + k * curvature(at))
        if not (low < at + newton < high and 2 * abs(newton) <= abs(step)):
            newton = low + (high - low) / 2 - at
        before, step = at, newton
        at += step
        if at == before:
            break
    return slope(at)
