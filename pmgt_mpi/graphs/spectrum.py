"""Extreme eigenvalues of a symmetric matrix M with M1 = 0, apart from that 0.

M is a Laplacian or I − W. Up to `DENSE_LIMIT` agents a dense solver answers. Beyond,
plain Lanczos on the complement of 1 is tried first: it needs no more memory than a few
vectors and settles every graph that mixes well, on which a factorisation would fill
up. An end that it does not settle (a long ring, say) belongs to a graph that small
cuts take apart, and there a sparse factorisation is cheap: shift-invert.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Matrix = Any
"""A scipy.sparse.csr_array of float64 (scipy has no types)."""

DENSE_LIMIT = 300
"""Agents up to which an m × m array may be made."""

LANCZOS_STEPS = 3000
"""Products with M before shift-invert takes over: 2 s at 100,000 agents of degree 4."""

RESIDUAL = 1e-9
"""Relative residual of a settled Ritz value, whose own error is far smaller."""


class Extremes(NamedTuple):
    """Smallest and largest eigenvalue on the complement of the constant vector."""

    smallest: float
    largest: float


def extremes(M: Matrix) -> Extremes:
    """Smallest and largest eigenvalue of M on the complement of 1, for m ≥ 2."""
    if M.shape[0] <= DENSE_LIMIT:
        return dense_extremes(M)
    (smallest, largest), settled = lanczos_extremes(M)
    if not settled[0]:
        exact = shift_invert_smallest(M)
        smallest = min(smallest, 0.0) if exact is None else exact
    if not settled[1]:
        largest = shift_invert_largest(M)
    return Extremes(smallest, largest)


def dense_extremes(M: Matrix) -> Extremes:
    """All eigenvalues of a small M, that of the constant vector moved inside."""
    m = M.shape[0]
    inside = M.trace() / (m - 1)  # the mean of the other eigenvalues
    eigenvalues = np.linalg.eigvalsh(M.toarray() + inside / m)
    return Extremes(float(eigenvalues[0]), float(eigenvalues[-1]))


def lanczos_extremes(M: Matrix) -> tuple[Extremes, tuple[bool, bool]]:
    """Both ends from one Lanczos recurrence, and which of them have settled.

    Without reorthogonalisation settled Ritz values return as copies, which does not
    move the outermost ones (Paige 1980). ARPACK, which restarts, takes six times as
    long on a random regular graph of 100,000 agents.
    """
    from scipy.linalg import eigh_tridiagonal

    q = _start(M.shape[0])
    previous = np.zeros_like(q)
    alphas: list[float] = []
    betas: list[float] = []
    check_at = 16
    while True:
        r = M @ q
        if betas:
            r -= betas[-1] * previous
        alphas.append(float(q @ r))
        r -= alphas[-1] * q
        r -= r.mean()  # rounding must not bring back the constant vector
        betas.append(float(np.linalg.norm(r)))
        steps = len(alphas)
        # A vanishing remainder: all eigenvalues that the start contains are there.
        exhausted = betas[-1] <= 1e-13 * max(map(abs, alphas[:16] + betas[:16]))
        if exhausted or steps == check_at:
            values, residuals = [], []
            for k in (0, steps - 1):
                theta, s = eigh_tridiagonal(
                    alphas, betas[:-1], select="i", select_range=(k, k)
                )
                values.append(float(theta[0]))
                residuals.append(betas[-1] * abs(float(s[-1, 0])))
            low, high = (
                exhausted or residual <= RESIDUAL * abs(value)
                for value, residual in zip(values, residuals, strict=True)
            )
            if (low and high) or steps == LANCZOS_STEPS:
                return Extremes(*values), (low, high)
            check_at = min(LANCZOS_STEPS, steps * 5 // 4)
        previous, q = q, r / betas[-1]


def shift_invert_smallest(M: Matrix) -> float | None:
    """Smallest eigenvalue of M on the complement of 1; None if it is not positive.

    M without its first row and column is positive definite if and only if M is so on
    the complement of 1, since x and x + c1 have the same xᵀMx. Its factors then give
    the pseudo-inverse of M, whose largest eigenvalue is the inverse of the smallest.
    """
    m = M.shape[0]
    try:
        factors = _factorised(M[1:, 1:])
    except RuntimeError:  # exactly singular
        return None
    if np.any(factors.U.diagonal() <= 0):
        return None

    def pseudo_inverse(b: NDArray[np.float64]) -> NDArray[np.float64]:
        x = np.zeros(m)
        x[1:] = factors.solve(b.ravel()[1:] - b.mean())
        x -= x.mean()
        return x

    return 1 / _largest(m, pseudo_inverse)


def shift_invert_largest(M: Matrix) -> float:
    """Largest eigenvalue of M, from the inverse of (upper bound)·I − M."""
    from scipy import sparse

    m = M.shape[0]
    # Gershgorin's bound is attained on even rings: a little above it.
    bound = float(abs(M).sum(axis=1).max()) * (1 + 1e-12)
    factors = _factorised(sparse.diags_array(np.full(m, bound)) - M)
    return bound - 1 / _largest(m, lambda b: factors.solve(b.ravel()))


def _factorised(A: Matrix) -> Any:
    """LU of a symmetric A, pivots on the diagonal: their signs are its inertia."""
    from scipy.sparse.linalg import splu

    return splu(
        A.tocsc(),
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )


def _largest(m: int, product: Any) -> float:
    from scipy.sparse.linalg import LinearOperator, eigsh

    operator = LinearOperator((m, m), matvec=product, dtype=np.float64)
    (value,) = eigsh(
        operator, k=1, which="LA", v0=_start(m), tol=1e-10, return_eigenvectors=False
    )
    return float(value)


def _start(m: int) -> NDArray[np.float64]:
    """Return a fixed vector that is orthogonal to 1 and has no symmetry."""
    q = np.random.default_rng(0).standard_normal(m)
    q -= q.mean()
    q /= np.linalg.norm(q)
    return q
