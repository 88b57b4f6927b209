"""Extreme eigenvalues of G = mean of a aᵀ, from which all constants follow."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.mpi.leader import led_by_first
from pmgt_mpi.problems.lanczos import Ends, lanczos, largest, start
from pmgt_mpi.problems.rows import Rows

Array = NDArray[Any]

DENSE_LIMIT = 500
"""Largest d for which constants come from d × d matrices; above, from products."""

HIGH_TOLERANCE = 1e-2
"""Of λ_1 from products, which is told from above."""

LOW_TOLERANCE = 2e-2
"""Of λ_d from products, told from below: relative to it and to what it is added to."""

LOW_PRODUCTS = 20
"""For λ_d, at least."""

GAP_TOLERANCE = 1e-3
"""Likewise, where it is taken from λ_1: relative to λ_1 − λ_d."""


class SecondMoment:
    """G_i = (1/n) Σ_j a_j a_jᵀ of an agent's rows.

    Parameters
    ----------
    rows, columns
        a_j, and d.
    """

    def __init__(self, rows: Rows, columns: int) -> None:
        self.rows, self.columns = rows, columns

    @cached_property
    def matrix(self) -> Array | None:
        """G_i itself, made once; None where d is too large for that."""
        return self.rows.gram() if self.columns <= DENSE_LIMIT else None

    def __call__(self, x: Array) -> Array:
        """G_i x = (1/n) Σ_j ⟨a_j, x⟩ a_j."""
        return second_moment(self.rows, x)


class Spectrum(NamedTuple):
    """Eigenvalues of a positive semidefinite matrix: λ_1 ≥ λ_2 ≥ … ≥ λ_d ≥ 0.

    Attributes
    ----------
    largest, second
        λ_1 and λ_2; λ_2 = 0 where d = 1, or where it was not wanted.
    smallest
        λ_d, 0 where it is not above rounding.
    """

    largest: float
    second: float
    smallest: float


def mean_spectrum(
    G: SecondMoment, share: float, collective: Collective, floor: float | None
) -> Spectrum:
    """Spectrum of Σ_i share_i G_i; share_i = n_i / N makes it the mean of all rows.

    Parameters
    ----------
    floor
        What λ_d is added to, so that it need not be known better; infinite where it
        does not matter. None where λ_1 and λ_2 are wanted to rounding, and λ_d is taken
        from λ_1.
    """
    if G.matrix is not None:
        whole = collective.sum(share * G.matrix)
        return collective.from_first(  # type: ignore[no-any-return]
            spectrum_of_matrix(whole) if collective.agent == 0 else None
        )
    return led_by_first(
        collective,
        lambda x: collective.sum(share * G(x)),
        lambda ask: spectrum_of_operator(ask, G.columns, floor),
    )


def local_spectrum(G: SecondMoment) -> Spectrum:
    """Spectrum of the agent's own G_i; from products λ_d is the lower bound 0."""
    if G.matrix is not None:
        return spectrum_of_matrix(G.matrix)
    return spectrum_of_operator(G, G.columns, inf)


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


def spectrum_of_operator(
    apply: Callable[[Array], Array], d: int, floor: float | None
) -> Spectrum:
    """Spectrum by Lanczos; λ_d is a lower bound, which may be 0."""
    second = 0.0
    if floor is None:
        second, top = largest_two(apply, d)
    else:
        top = largest(apply, d, HIGH_TOLERANCE, above=True)
    if top == 0.0 or floor == inf:
        return Spectrum(top, second, 0.0)

    def enough(ends: Ends) -> bool:
        if floor is None:
            return ends.low_error <= GAP_TOLERANCE * (top - ends.low)
        return ends.low_error <= LOW_TOLERANCE * (floor + ends.low)

    ends = lanczos(apply, d, enough, least=LOW_PRODUCTS)
    return Spectrum(top, second, max(ends.low - ends.low_error, 0.0))


def largest_two(apply: Callable[[Array], Array], d: int) -> tuple[float, float]:
    """λ_2 and λ_1 of an operator, to rounding."""
    from scipy.sparse.linalg import LinearOperator, eigsh

    v0 = start(d)
    if not apply(v0).any():
        return 0.0, 0.0  # the zero matrix, from which Lanczos cannot start
    G = LinearOperator((d, d), matvec=lambda x: apply(x.ravel()), dtype=np.float64)
    values = eigsh(G, k=2, which="LA", v0=v0, return_eigenvectors=False)
    second, largest = sorted(max(float(value), 0.0) for value in values)
    return second, largest
