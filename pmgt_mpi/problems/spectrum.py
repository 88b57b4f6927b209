"""Extreme eigenvalues of G = mean of a aᵀ, from which all constants follow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.mpi.leader import led_by_first
from pmgt_mpi.problems.rows import Rows

Array = NDArray[Any]

DENSE_LIMIT = 2048
"""Largest d for which a d × d matrix is made."""


class Spectrum(NamedTuple):
    """Eigenvalues of a positive semidefinite matrix: λ_1 ≥ λ_2 ≥ … ≥ λ_d ≥ 0.

    Attributes
    ----------
    largest, second
        λ_1 and λ_2; λ_2 = 0 where d = 1.
    smallest
        λ_d, 0 where it is not above rounding.
    """

    largest: float
    second: float
    smallest: float


def mean_spectrum(
    rows: Rows, columns: int, share: float, collective: Collective
) -> Spectrum:
    """Spectrum of Σ_i share_i G_i; share_i = n_i / N makes it the mean of all rows."""
    if columns <= DENSE_LIMIT:
        G = collective.sum(share * rows.gram())
        return collective.from_first(  # type: ignore[no-any-return]
            spectrum_of_matrix(G) if collective.agent == 0 else None
        )
    return led_by_first(
        collective,
        lambda x: collective.sum(share * second_moment(rows, x)),
        lambda ask: spectrum_of_operator(ask, columns),
    )


def local_spectrum(rows: Rows, columns: int) -> Spectrum:
    """Spectrum of the agent's own G_i; λ_d may be the lower bound 0."""
    if columns <= DENSE_LIMIT:
        return spectrum_of_matrix(rows.gram())
    second, largest = largest_two(lambda x: second_moment(rows, x), columns)
    return Spectrum(largest, second, 0.0)


def second_moment(rows: Rows, x: Array) -> Array:
    """G_i x = (1/n) Σ_j ⟨a_j, x⟩ a_j."""
    z = rows.dot(x)
    z *= 1 / z.size
    return rows.tdot(z)


def spectrum_of_matrix(G: Array) -> Spectrum:
    """Spectrum from all eigenvalues."""
    values = np.linalg.eigvalsh(G)
    largest, smallest = max(float(values[-1]), 0.0), float(values[0])
    if smallest <= len(values) * np.finfo(float).eps * largest:
        smallest = 0.0
    second = max(float(values[-2]), 0.0) if len(values) > 1 else 0.0
    return Spectrum(largest, second, smallest)


def spectrum_of_operator(apply: Callable[[Array], Array], d: int) -> Spectrum:
    """Spectrum by Lanczos; λ_d is a lower bound, within 1e-3 λ_1 or else 0."""
    second, largest = largest_two(apply, d)
    return Spectrum(largest, second, lower_bound(apply, d, largest))


def largest_two(apply: Callable[[Array], Array], d: int) -> tuple[float, float]:
    """λ_2 and λ_1 of an operator, to rounding."""
    from scipy.sparse.linalg import LinearOperator, eigsh

    start = _start(d)
    if not apply(start).any():
        return 0.0, 0.0  # the zero matrix, from which Lanczos cannot start
    G = LinearOperator((d, d), matvec=lambda x: apply(x.ravel()), dtype=np.float64)
    values = eigsh(G, k=2, which="LA", v0=start, return_eigenvectors=False)
    second, largest = sorted(max(float(value), 0.0) for value in values)
    return second, largest


def lower_bound(apply: Callable[[Array], Array], d: int, largest: float) -> float:
    """Find a number below λ_d, by little if Lanczos is quick, else 0.

    λ_d is found as the upper end of λ_1 I − G: there the tolerance is relative to
    λ_1, where relative to λ_d itself it might never be met.
    """
    from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

    tolerance = 1e-3
    if largest == 0.0:
        return 0.0
    shifted = LinearOperator(
        (d, d), matvec=lambda x: x.ravel() - apply(x.ravel()) / largest, dtype=float
    )
    try:
        top = eigsh(
            shifted,
            k=1,
            which="LA",
            v0=_start(d),
            tol=tolerance / 2,
            maxiter=20,
            return_eigenvectors=False,
        )
    except ArpackNoConvergence:
        return 0.0
    return max((1.0 - float(top[0]) - tolerance) * largest, 0.0)


def _start(d: int) -> Array:
    return np.random.default_rng(0).standard_normal(d)
