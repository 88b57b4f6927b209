"""Small problems, and the same mathematics row by row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from mpi4py import MPI
from numpy.typing import NDArray
from scipy.sparse import csr_array

from pmgt_mpi.data.shard import Shard
from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.problems import PROBLEMS

Array = NDArray[Any]

OPTIONS: dict[str, dict[str, Any]] = {
    "shift-invert-pca": {"ratio": 3.0},
    "ridge": {"l2": 0.3},
    "logistic": {"l2": 0.2},
}
"""The linear models, and options for each."""


def alone() -> Collective:
    return Collective(MPI.COMM_SELF)


def make_rows(n: int, d: int, seed: int = 0) -> Array:
    """Rows with unequal columns, half of the entries 0, and one row all 0."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, d)) * np.linspace(1.0, 2.0, d)
    A[rng.random((n, d)) < 0.5] = 0.0
    A[n // 2] = 0.0
    return A


def make_labels(n: int, seed: int = 1) -> Array:
    """Two values, both there from two rows on."""
    labels = np.where(np.random.default_rng(seed).random(n) < 0.4, 3.0, 7.0)
    labels[:2] = [3.0, 7.0][:n]
    return labels


def make_shard(
    n: int, d: int, *, sparse: bool = False, dtype: str = "float64", seed: int = 0
) -> Shard:
    A = make_rows(n, d, seed).astype(dtype)
    return Shard(csr_array(A) if sparse else A, make_labels(n), n, 1)


def make_problem(kind: str, shard: Shard, **options: Any) -> Any:
    return PROBLEMS.load(kind)(shard, alone(), **(options or OPTIONS[kind]))


def row_function(kind: str, problem: Any, y: float) -> Callable[[Array, Array], Any]:
    """(a, x) ↦ f_ij(x), ∇f_ij(x), ∇²f_ij(x), from the formulas of the paper."""
    c, b, sign = problem.c, problem.b, 1.0 if y == 7.0 else -1.0

    def f(a: Array, x: Array) -> Any:
        z, eye = float(a @ x), np.eye(len(x))
        if kind == "shift-invert-pca":
            H = c * eye - np.outer(a, a)
            return 0.5 * x @ H @ x + b @ x, H @ x + b, H
        if kind == "ridge":
            H = np.outer(a, a) + c * eye
            return 0.5 * (z - y) ** 2 + 0.5 * c * x @ x, (z - y) * a + c * x, H
        e = np.exp(-sign * z)
        return (
            np.log(1 + e) + 0.5 * c * x @ x,
            -sign * e / (1 + e) * a + c * x,
            e / (1 + e) ** 2 * np.outer(a, a) + c * eye,
        )

    return f


def naive_mean(
    kind: str, problem: Any, shard: Shard, x: Array, rows: Array | None = None
) -> tuple[float, Array, Array]:
    """Mean value, gradient and Hessian over some rows, one row after another."""
    A = shard.A.toarray() if shard.sparse else shard.A
    assert shard.labels is not None
    parts = [
        row_function(kind, problem, shard.labels[j])(A[j].astype(float), x)
        for j in (range(shard.rows) if rows is None else rows)
    ]
    value, grad, hessian = zip(*parts, strict=True)
    return float(np.mean(value)), np.mean(grad, axis=0), np.mean(hessian, axis=0)
