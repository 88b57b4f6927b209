"""Methods that step along single rows of a linear model, in matrix form."""

from __future__ import annotations

import numpy as np


def loss_slope(world, i, j, z):
    """φ_j'(z), without the weight."""
    y = world.y[i][j]
    return z - y if world.kind == "ridge" else -y / (1 + np.exp(y * z))


def root_of(rising):
    """The zero of a function that rises with a slope of 1 at least, by bisection."""
    low, high = -1.0, 1.0
    while rising(low) > 0:
        low *= 2
    while rising(high) < 0:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if rising(middle) < 0 else (low, middle)
    return (low + high) / 2


class RowTable:
    """φ_j'(z) of every row where it was last taken."""

    def __init__(self, world, X):
        self.world = world
        self.s = [
            np.array([loss_slope(world, i, j, a @ x) for j, a in enumerate(world.A[i])])
            for i, x in enumerate(X)
        ]

    def sums(self):
        """Σ_j h_j' a_j of every agent: the mean over its rows, with its weight."""
        world = self.world
        return np.array(
            [world.weight(i) * (s @ world.A[i]) / len(s) for i, s in enumerate(self.s)]
        )


def dsba(world, x0, steps, chance, *, step_size):
    """DSBA (Shen et al. 2018) as printed: EXTRA, with v^{k+1} at x^{k+1}."""
    alpha, W_tilde = step_size, (np.eye(world.m) + world.W) / 2
    X_old = X = np.tile(x0, (world.m, 1))
    Q = np.zeros_like(X)
    table = RowTable(world, X)
    yield {"x": X, "q": Q, "y": table.sums()}
    V = None
    for _ in range(steps):
        if V is None:
            whole = world.W @ X
        else:
            whole = 2 * W_tilde @ X - W_tilde @ X_old + alpha * V
        Q = Q + (X - world.W @ X) / 2
        X_old, X, V = X, np.zeros_like(X), np.zeros_like(X)
        for i, (j,) in enumerate(chance.batch(1)):
            a, s, w, mu = world.A[i][j], table.s[i], world.weight(i), world.c
            mean = s @ world.A[i] / len(s)
            # x = whole − α w ((φ_j'(⟨a, x⟩) − s_j) a + mean + μ x), along a.
            rest = whole[i] - alpha * w * (mean - s[j] * a)

            def rising(z, i=i, j=j, a=a, w=w, rest=rest, mu=mu):
                pull = alpha * w * loss_slope(world, i, j, z) * (a @ a)
                return (1 + alpha * w * mu) * z + pull - a @ rest

            new = loss_slope(world, i, j, root_of(rising))
            X[i] = (rest - alpha * w * new * a) / (1 + alpha * w * mu)
            V[i] = w * ((new - s[j]) * a + mean + mu * X[i])
            s[j] = new
        yield {"x": X, "q": Q, "y": table.sums()}


def dvr(world, x0, steps, chance, *, step_size, row_step, probability, mix_rounds):
    """DVR (Hendrikx et al. 2020), f_i the sum over its rows of φ_j/n_i, weighted."""
    eta, p = step_size, probability
    high = {"ridge": 1.0, "logistic": 0.25}[world.kind]
    share = [world.weight(i) / len(A) for i, A in enumerate(world.A)]
    mu = np.array([world.weight(i) * world.c for i in range(world.m)])
    L = [s * high * (A**2).sum(axis=1) for s, A in zip(share, world.A, strict=True)]
    z = [A @ x0 for A in world.A]

    def gradient(i, j):
        return share[i] * loss_slope(world, i, j, z[i][j]) * world.A[i][j]

    X = np.array(
        [-sum(gradient(i, j) for j in range(len(A))) / mu[i] for i, A in enumerate(z)]
    )
    yield {"x": X}
    for _ in range(steps):
        X = X.copy()
        if next(chance.coins):
            X -= (eta / (mu * p))[:, None] * (X - world.mix(X, mix_rounds))
        else:
            for i, (j,) in enumerate(chance.batch(1)):
                chances = (1 + L[i] / mu[i]) / (1 + L[i] / mu[i]).sum()
                rho = row_step / ((1 - p) * chances[j])
                old = gradient(i, j)
                z[i][j] = (1 - rho) * z[i][j] + rho * (world.A[i][j] @ X[i])
                X[i] -= (gradient(i, j) - old) / mu[i]
        yield {"x": X}


def adfs(world, x0, steps, chance, *, step_size, convexity, probability, mix_rounds):
    """ADFS (Hendrikx et al.), a node for each row: everything written out per node."""
    rho, p = step_size, probability
    high = {"ridge": 1.0, "logistic": 0.25}[world.kind]
    share = [world.weight(i) / len(A) for i, A in enumerate(world.A)]
    mu = np.array([world.weight(i) * world.c for i in range(world.m)])

    def slope(i, j, z):
        return share[i] * loss_slope(world, i, j, z)

    v_rows = [
        np.array([slope(i, j, a @ x0) for j, a in enumerate(A)])
        for i, A in enumerate(world.A)
    ]
    x_rows = v_rows
    V = X = np.array([-(A.T @ s) for A, s in zip(world.A, v_rows, strict=True)])
    yield {"w": V / mu[:, None], "v": V, "x": X}
    for _ in range(steps):
        Y = (X + rho * V) / (1 + rho)
        y_rows = [
            (a + rho * b) / (1 + rho) for a, b in zip(x_rows, v_rows, strict=True)
        ]
        V, X = (1 - rho) * V + rho * Y, Y.copy()
        v_rows = [(1 - rho) * a + rho * b for a, b in zip(v_rows, y_rows, strict=True)]
        x_rows = [y.copy() for y in y_rows]
        if next(chance.coins):
            U = Y / mu[:, None]
            D = -rho / (convexity * p) * (U - world.mix(U, mix_rounds))
            V, X = V + D, X + rho / p * D
        else:
            for i, (j,) in enumerate(chance.batch(1)):
                A, a = world.A[i], world.A[i][j]
                L = share[i] * high * (A**2).sum(axis=1)
                odds = np.sqrt(1 + L / mu[i])
                P = (1 - p) * odds[j] / odds.sum()
                alpha, s_A = 2 * convexity, convexity
                s = rho * alpha * L[j] / (s_A * P)
                assert s < L[j]
                nu = 1 / (1 / s - 1 / L[j])
                t = v_rows[i][j] + s * (
                    a @ Y[i] / mu[i] / (a @ a) - y_rows[i][j] / L[j]
                )

                def rising(z, i=i, j=j, t=t, s=s, nu=nu, a=a):
                    return z + (a @ a) / nu * slope(i, j, z) - (a @ a) * t / s

                new = slope(i, j, root_of(rising))
                D = v_rows[i][j] - new
                V[i] += D * a
                X[i] += rho / P * D * a
                v_rows[i][j] = new
                x_rows[i][j] -= rho / P * D
        yield {"w": V / mu[:, None], "v": V.copy(), "x": X.copy()}
