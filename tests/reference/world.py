"""All agents at once, in matrix form: numpy only, written from the paper.

Bold letters of the paper are matrices here: row i belongs to agent i. Nothing is
imported from the package, nothing is clever: a gradient is the mean of the gradients of
all its rows, Chebyshev mixing goes through the eigenvectors.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np


@dataclass
class World:
    """All agents together.

    `A[i]`, `y[i]` are the rows and labels of agent i; `kind` is pca (with the shift c
    and the vector b), ridge or logistic (with c as the strength of the l2 term);
    `l1` is the strength of psi = l1 ‖x‖₁; `mixing` the name of the polynomial.
    """

    W: np.ndarray
    A: list[np.ndarray]
    y: list[np.ndarray]
    kind: str
    c: float
    b: np.ndarray
    l1: float
    mixing: str

    @property
    def m(self) -> int:
        return len(self.A)

    @cached_property
    def N(self) -> int:
        return sum(len(rows) for rows in self.A)

    @property
    def n(self) -> int:
        return -(-self.N // self.m)

    def weight(self, i: int) -> float:
        """m n_i / N of unequal shards: part of f_i."""
        return self.m * len(self.A[i]) / self.N

    def row_gradients(self, i: int, x: np.ndarray, rows=slice(None)) -> np.ndarray:
        """The part of ∇f_ij(x) that depends on the row, for each j of rows.

        Without the weight.
        """
        A, y = self.A[i][rows], self.y[i][rows]
        if self.kind == "pca":
            slopes = -(A @ x)
        elif self.kind == "ridge":
            slopes = A @ x - y
        else:
            slopes = -y / (1 + np.exp(y * (A @ x)))
        return slopes[:, None] * A

    def row_gradient(self, i: int, j: int, x: np.ndarray) -> np.ndarray:
        """The same for one row."""
        return self.row_gradients(i, x, [j])[0]

    def common_gradient(self, x: np.ndarray) -> np.ndarray:
        """The part of ∇f_ij(x) that is the same for all rows."""
        return self.c * x + self.b

    def mean_gradient(self, i: int, x: np.ndarray, rows=slice(None)) -> np.ndarray:
        """The mean of ∇f_ij(x) over j of rows, the weight of unequal shards in it."""
        mean = self.row_gradients(i, x, rows).mean(axis=0)
        return self.weight(i) * (mean + self.common_gradient(x))

    def component_gradient(self, i: int, j: int, x: np.ndarray) -> np.ndarray:
        """∇f_ij(x), the weight of unequal shards included."""
        return self.mean_gradient(i, x, [j])

    def gradient(self, X: np.ndarray) -> np.ndarray:
        """∇f_i(x_i) for every agent, each the mean over its own rows."""
        return np.array([self.mean_gradient(i, x) for i, x in enumerate(X)])

    def minibatch(self, X: np.ndarray, batches: list[np.ndarray]) -> np.ndarray:
        """(1/b) Σ_{j ∈ B_i} ∇f_ij(x_i) for every agent."""
        each = enumerate(zip(X, batches, strict=True))
        return np.array([self.mean_gradient(i, x, batch) for i, (x, batch) in each])

    def minibatch_difference(self, X, X_old, batches):
        """(1/b) Σ_{j ∈ B_i} (∇f_ij(x_i) − ∇f_ij(x_i')) for every agent."""
        return self.minibatch(X, batches) - self.minibatch(X_old, batches)

    def prox(self, Z: np.ndarray, eta: float) -> np.ndarray:
        return np.sign(Z) * np.maximum(np.abs(Z) - eta * self.l1, 0)

    def mix(self, X: np.ndarray, M: int) -> np.ndarray:
        """FastMix (Algorithm 2 of the paper, with M rounds) and its relatives."""
        if self.m == 1:
            return X
        eigenvalues, V = np.linalg.eigh(self.W)
        lambda_min, lambda_2 = eigenvalues[0], eigenvalues[-2]
        if self.mixing in ("plain", "server"):
            return np.linalg.matrix_power(self.W, M) @ X
        if self.mixing == "chebyshev":
            centre, delta = (lambda_2 + lambda_min) / 2, (lambda_2 - lambda_min) / 2
            if delta < 1e-12:
                p = ((eigenvalues - centre) / (1 - centre)) ** M
            else:
                p = chebyshev_T(M, (eigenvalues - centre) / delta)
                p /= chebyshev_T(M, (1 - centre) / delta)
            return V @ (p[:, None] * (V.T @ X))
        lam = max(abs(lambda_2), abs(lambda_min))
        s = np.sqrt(1 - lam**2)
        h = {"fastmix": 1 / (1 + s), "fastmix-optimal": (1 - s) / (1 + s)}[self.mixing]
        before, now = X, X
        for _ in range(M):
            before, now = now, (1 + h) * self.W @ now - h * before
        return now


def chebyshev_T(M: int, z: np.ndarray | float) -> np.ndarray:
    """T_M(z) = cos(M arccos z), continued outside of [−1, 1]."""
    z = np.asarray(z, float)
    inside = np.cos(M * np.arccos(np.clip(z, -1, 1)))
    outside = np.sign(z) ** M * np.cosh(M * np.arccosh(np.maximum(np.abs(z), 1)))
    return np.where(np.abs(z) <= 1, inside, outside)
