"""All agents at once, in matrix form: numpy only, written from the paper.

Bold letters of the paper are matrices here: row i belongs to agent i. Nothing is
imported from the package, nothing is clever: gradients are loops over rows, Chebyshev
mixing goes through the eigenvectors.
"""

from __future__ import annotations

from dataclasses import dataclass

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

    @property
    def N(self) -> int:
        return sum(len(rows) for rows in self.A)

    @property
    def n(self) -> int:
        return -(-self.N // self.m)

    def weight(self, i: int) -> float:
        """m n_i / N of unequal shards: part of f_i."""
        return self.m * len(self.A[i]) / self.N

    def row_gradient(self, i: int, j: int, x: np.ndarray) -> np.ndarray:
        """The part of ∇f_ij(x) that depends on the row, without the weight."""
        a = self.A[i][j]
        if self.kind == "pca":
            return -a * (a @ x)
        if self.kind == "ridge":
            return a * (a @ x - self.y[i][j])
        label = self.y[i][j]
        return -label * a / (1 + np.exp(label * (a @ x)))

    def common_gradient(self, x: np.ndarray) -> np.ndarray:
        """The part of ∇f_ij(x) that is the same for all rows."""
        return self.c * x + self.b

    def component_gradient(self, i: int, j: int, x: np.ndarray) -> np.ndarray:
        """∇f_ij(x), the weight of unequal shards included."""
        return self.weight(i) * (self.row_gradient(i, j, x) + self.common_gradient(x))

    def gradient(self, X: np.ndarray) -> np.ndarray:
        """∇f_i(x_i) for every agent, each the mean over its own rows."""
        return np.array(
            [
                np.mean(
                    [self.component_gradient(i, j, x) for j in range(len(self.A[i]))],
                    axis=0,
                )
                for i, x in enumerate(X)
            ]
        )

    def minibatch(self, X: np.ndarray, batches: list[np.ndarray]) -> np.ndarray:
        """(1/b) Σ_{j ∈ B_i} ∇f_ij(x_i) for every agent."""
        return np.array(
            [
                sum(self.component_gradient(i, int(j), x) for j in batch) / len(batch)
                for i, (x, batch) in enumerate(zip(X, batches, strict=True))
            ]
        )

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
        if self.mixing == "plain":
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
