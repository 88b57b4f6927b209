"""The algorithms a second time: matrix form, numpy only, written from the paper.

Bold letters of the paper are matrices here: row i belongs to agent i. Everything random
comes in from outside (the lists of T and of row indices), so that a run of the package
can be compared number by number. Nothing is imported from the package, nothing is
clever: gradients are loops over rows, Chebyshev mixing goes through the eigenvectors.
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

    def component_gradient(self, i: int, j: int, x: np.ndarray) -> np.ndarray:
        """∇f_ij(x), the weight m n_i / N of unequal shards included."""
        a = self.A[i][j]
        if self.kind == "pca":
            g = self.c * x - a * (a @ x) + self.b
        elif self.kind == "ridge":
            g = a * (a @ x - self.y[i][j]) + self.c * x
        elif self.kind == "logistic":
            label = self.y[i][j]
            g = -label * a / (1 + np.exp(label * (a @ x))) + self.c * x
        return self.m * len(self.A[i]) / self.N * g

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


def pmgt_katyushax(world, x0, *, T, batches, eta, tau, M):
    """Algorithm 1: yield the variables at the start and after each epoch.

    `T[k]` is the paper's T of epoch k; `batches[i]` an iterator over agent i's index
    lists in the order in which they are used.
    """
    X = Y = Q = np.tile(x0, (world.m, 1))
    G = world.gradient(X)
    S_hat = world.mix(G, M)
    yield {"x": X, "y": Y, "q": Q, "s_hat": S_hat, "grad_x": G}
    for T_k in T:
        X = world.mix(tau * Q + (1 - tau) * Y, M)
        G_old, G = G, world.gradient(X)
        S_hat = world.mix(S_hat + G - G_old, M)
        Y = svrg_epoch(world, X, S_hat, T_k, batches, eta, M)
        Q = world.mix((Q + tau / 2 * Y - (X - Y) / (2 * tau)) / (1 + tau / 2), M)
        yield {"x": X, "y": Y, "q": Q, "s_hat": S_hat, "grad_x": G}


def pmgt_svrg(world, x0, *, T, batches, eta, M):
    """Algorithm 3, mixing y first and taking the gradient at the mixed point."""
    X = Y = np.tile(x0, (world.m, 1))
    G = world.gradient(X)
    S_hat = world.mix(G, M)
    yield {"x": X, "y": Y, "s_hat": S_hat, "grad_x": G}
    for T_k in T:
        X = world.mix(Y, M)
        G_old, G = G, world.gradient(X)
        S_hat = world.mix(S_hat + G - G_old, M)
        Y = svrg_epoch(world, X, S_hat, T_k, batches, eta, M)
        yield {"x": X, "y": Y, "s_hat": S_hat, "grad_x": G}


def svrg_epoch(world, W0, MU, T, batches, eta, M):
    """Lines 9 to 14 of Algorithm 1: t = 0, …, T."""
    S, V, WT = MU, MU, W0
    for _ in range(T + 1):
        B = [next(of_agent) for of_agent in batches]
        V_old = V
        V = MU + world.minibatch(WT, B) - world.minibatch(W0, B)
        S = world.mix(S + V - V_old, M)
        WT = world.mix(world.prox(WT - eta * S, eta), M)
    return WT


def pg_extra(world, x0, *, alpha, iterations):
    """PG-EXTRA (Shi et al. 2015, Algorithm 1): the two half steps as printed there."""
    W, W_tilde = world.W, (np.eye(world.m) + world.W) / 2
    X_old = np.tile(x0, (world.m, 1))
    yield {"x": X_old}
    H = W @ X_old - alpha * world.gradient(X_old)
    X = world.prox(H, alpha)
    yield {"x": X, "h": H}
    for _ in range(iterations - 1):
        difference = world.gradient(X) - world.gradient(X_old)
        H = H + W @ X - W_tilde @ X_old - alpha * difference
        X_old, X = X, world.prox(H, alpha)
        yield {"x": X, "h": H}


def nids(world, x0, *, alpha, iterations):
    """NIDS (Li, Shi, Yan 2019, Algorithm 1) with W̃ = (I + W)/2."""
    W_tilde = (np.eye(world.m) + world.W) / 2
    X_old = np.tile(x0, (world.m, 1))
    yield {"x": X_old}
    Z = X_old - alpha * world.gradient(X_old)
    X = world.prox(Z, alpha)
    yield {"x": X, "z": Z}
    for _ in range(iterations - 1):
        inner = 2 * X - X_old - alpha * world.gradient(X)
        inner = inner + alpha * world.gradient(X_old)
        Z = Z - X + W_tilde @ inner
        X_old, X = X, world.prox(Z, alpha)
        yield {"x": X, "z": Z}
