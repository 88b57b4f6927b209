"""The reference of a problem whose answer is eigenvectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.mpi.leader import led_by_first
from pmgt_mpi.optimum.reference import Reference
from pmgt_mpi.problems.spectrum import DENSE_LIMIT

Array = NDArray[Any]


def leading_eigenvectors(
    problem: Any, collective: Collective, weight: float
) -> Reference:
    """Find the k leading eigenvectors of C, the mean of weight · C_i; collective.

    Up to d = 2048 from C itself, beyond by Lanczos on products. F* is
    −(λ_1 + … + λ_k); the residual is ‖CV − VΛ‖ relative to λ_1.

    Parameters
    ----------
    problem
        With `product`, `gram` and the shape d × k.
    collective
        All agents; every one of them must make this call.
    weight
        m n_i / N, with which C_i enters the mean.
    """
    d, k = problem.shape
    share = weight / collective.agents

    def product(V: Array) -> Array:
        return collective.sum(share * problem.product(V))

    if d <= DENSE_LIMIT:
        C = collective.sum(share * problem.gram())
        V = None
        if collective.agent == 0:
            V = np.linalg.eigh(C)[1][:, : -k - 1 : -1]
        V = collective.from_first(V)
    else:
        V = led_by_first(collective, product, lambda ask: _lanczos(ask, d, k))
    CV = product(V)
    values = np.einsum("ij,ij->j", V, CV)
    largest = values.max() if values.max() > 0 else 1.0
    residual = float(np.linalg.norm(CV - V * values) / largest)
    return Reference(V, -float(values.sum()), np.zeros((d, k)), residual)


def _lanczos(ask: Callable[[Array], Array], d: int, k: int) -> Array:
    from scipy.sparse.linalg import LinearOperator, eigsh

    start = np.random.default_rng(0).standard_normal(d)
    if not ask(start[:, np.newaxis]).any():
        return np.eye(d, k)  # of the zero matrix, any
    C = LinearOperator(
        (d, d),
        matvec=lambda x: ask(x.reshape(d, 1)).ravel(),
        matmat=ask,
        dtype=np.float64,
    )
    values, V = eigsh(C, k=k, which="LA", v0=start)
    order = np.argsort(values)[::-1]
    return np.ascontiguousarray(V[:, order])
