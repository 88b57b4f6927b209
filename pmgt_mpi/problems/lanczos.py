"""Ends of the spectrum of symmetric operators, from products with them alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.streams import stream

Array = NDArray[Any]
Product = Callable[[Array], Array]

MOST_PRODUCTS = 120
"""Of one operator: what is not found with these takes a different method."""

MOST_NUMBERS = 1 << 25
"""That the basis may hold."""

LEAST_PRODUCTS = 8
"""Before the first look at what is found."""


class Ends(NamedTuple):
    """The smallest and the largest eigenvalue, as far as they are found.

    Attributes
    ----------
    low, high
        Ritz values: they lie within the spectrum.
    low_error, high_error
        An eigenvalue lies within so much of them: the norm of the residual.
    """

    low: float
    low_error: float
    high: float
    high_error: float


def lanczos(
    apply: Product,
    d: int,
    enough: Callable[[Ends], bool],
    most: int = MOST_PRODUCTS,
    least: int = LEAST_PRODUCTS,
) -> Ends:
    """Ends of the spectrum by Lanczos' method, the basis kept orthogonal.

    Parameters
    ----------
    apply, d
        The operator, d × d.
    enough
        Whether the ends are good enough.
    most
        Products, if they are not; fewer where the basis has no room.
    least
        Products before the first look: before, an inner eigenvalue may look like an end
        of the spectrum, as the vector that is begun with has little of the end.
    """
    most = min(d, most, max(LEAST_PRODUCTS, MOST_NUMBERS // d))
    basis = np.empty((most, d))
    diagonal, beside = np.zeros(most), np.zeros(most)
    q = start(d)
    q /= np.linalg.norm(q)
    ends = Ends(0.0, 0.0, 0.0, 0.0)
    for k in range(most):
        basis[k] = q
        r = apply(q).astype(np.float64)
        diagonal[k] = q @ r
        for _ in range(2):  # twice is enough for rounding
            r -= (basis[: k + 1] @ r) @ basis[: k + 1]
        beside[k] = np.linalg.norm(r)
        scale = np.abs(diagonal[: k + 1]).max() + beside[: k + 1].max()
        ended = k == most - 1 or beside[k] <= d * np.finfo(float).eps * scale
        if ended or k + 1 >= least:
            ends = _ends(diagonal[: k + 1], beside[:k], float(beside[k]))
            if ended or enough(ends):
                break
        q = r / beside[k]
    return ends


def _ends(diagonal: Array, beside: Array, residual: float) -> Ends:
    """Ends of the spectrum of a tridiagonal matrix, and the errors that they have."""
    T = np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1)
    values, vectors = np.linalg.eigh(T)
    errors = residual * np.abs(vectors[-1])
    return Ends(
        float(values[0]), float(errors[0]), float(values[-1]), float(errors[-1])
    )


def largest(apply: Product, d: int, tolerance: float, *, above: bool = False) -> float:
    """λ_max of a positive semidefinite operator, from below or above.

    Parameters
    ----------
    tolerance
        Of the residual, relative to λ_max: what is told from below, without it, is
        nearer, for the error of a Ritz value falls with the residual's square.
    """
    ends = lanczos(apply, d, lambda ends: ends.high_error <= tolerance * ends.high)
    return max(ends.high + above * ends.high_error, 0.0)


def largest_relative(top: Product, bottom: Product, d: int, tolerance: float) -> float:
    """Largest xᵀVx / xᵀHx, 0 ⪯ V ⪯ const H, from below.

    In each step it is the largest in the span of x, of its residual and of the step
    before (Knyazev 2001, LOBPCG, without a preconditioner), until a step adds less than
    the tolerance to it.

    Parameters
    ----------
    top, bottom
        Products with V and with H.
    """
    x = _with_products(start(d), top, bottom)
    found, step = 0.0, None
    for _ in range(MOST_PRODUCTS // 4):
        (y, V_y, H_y), before = x, found
        if y @ H_y <= 0:  # rounding, or H is zero
            break
        found = float(y @ V_y) / float(y @ H_y)
        if found <= before * (1 + tolerance):
            break
        residual = V_y - found * H_y
        if not residual.any():
            break
        directions = [x, _with_products(residual, top, bottom)]
        if step is not None:
            directions.append(step / np.linalg.norm(step[0]))
        span = np.array(directions)
        weights = _best_in_span(span)
        x = np.tensordot(weights, span, 1)
        step = np.tensordot(weights[1:], span[1:], 1)
        x /= np.linalg.norm(x[0])
    return found


def _with_products(x: Array, top: Product, bottom: Product) -> Array:
    """x of norm 1, V x and H x."""
    x = x / np.linalg.norm(x)
    return np.array([x, top(x), bottom(x)])


def _best_in_span(span: Array) -> Array:
    """Weights of the vector in a span with the largest xᵀVx / xᵀHx."""
    basis, V_basis, H_basis = span[:, 0], span[:, 1], span[:, 2]
    V, H = basis @ V_basis.T, basis @ H_basis.T
    values, vectors = np.linalg.eigh((H + H.T) / 2)
    some = values > 1e-12 * values[-1]  # directions may be nearly the same
    half = vectors[:, some] / np.sqrt(values[some])
    best = np.linalg.eigh(half.T @ (V + V.T) / 2 @ half)[1][:, -1]
    weights: Array = half @ best
    return weights


def start(d: int) -> Array:
    """Return a random vector, always the same one, that is in nobody's data."""
    return stream(0, "lanczos").standard_normal(d)
