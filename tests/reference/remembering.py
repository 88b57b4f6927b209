"""Methods with SAGA's table of gradients, in matrix form.

The table holds a whole vector for every row here; its mean is taken each time again.
It is the table of what differs from row to row: the l2 term and the linear one, which
all rows share, are known exactly.
"""

from __future__ import annotations

import numpy as np


class Table:
    """φ[i][j], the remembered gradient of row j of agent i."""

    def __init__(self, world, X):
        self.world = world
        self.phi = [
            [world.row_gradient(i, j, x) for j in range(len(world.A[i]))]
            for i, x in enumerate(X)
        ]

    def mean(self):
        """Mean over the rows, without the weight of the shard."""
        return np.array([np.mean(rows, axis=0) for rows in self.phi])

    def estimate(self, X, batches):
        """SAGA's estimate at X, every agent's; then the table is brought up to date."""
        world, estimates = self.world, []
        means = self.mean()
        for i, (x, batch) in enumerate(zip(X, batches, strict=True)):
            new = {int(j): world.row_gradient(i, int(j), x) for j in batch}
            change = sum(new[int(j)] - self.phi[i][int(j)] for j in batch) / len(batch)
            whole = change + means[i] + world.common_gradient(x)
            estimates.append(world.weight(i) * whole)
            for j, gradient in new.items():
                self.phi[i][j] = gradient
        return np.array(estimates)


def dsa(world, x0, steps, chance, *, batch_size, step_size):
    """DSA (Mokhtari and Ribeiro 2016): EXTRA with estimates for gradients."""
    W, W_tilde = world.W, (np.eye(world.m) + world.W) / 2
    X_old = np.tile(x0, (world.m, 1))
    table = Table(world, X_old)
    yield {"x": X_old, "mean": table.mean()}
    V_old = table.estimate(X_old, chance.batch(batch_size))
    X = W @ X_old - step_size * V_old
    yield {"x": X, "Wt_x": W_tilde @ X_old, "v": V_old, "mean": table.mean()}
    for _ in range(steps - 1):
        V = table.estimate(X, chance.batch(batch_size))
        X_new = X + W @ X - W_tilde @ X_old - step_size * (V - V_old)
        X_old, X, V_old = X, X_new, V
        yield {"x": X, "Wt_x": W_tilde @ X_old, "v": V, "mean": table.mean()}


def gt_saga(world, x0, steps, chance, *, batch_size, step_size):
    """GT-SAGA (Xin et al. 2020), adapt then combine."""
    X = np.tile(x0, (world.m, 1))
    table = Table(world, X)
    V = TR = world.gradient(X)
    yield {"x": X, "t": TR, "v": V, "mean": table.mean()}
    for _ in range(steps):
        X = world.W @ (X - step_size * TR)
        V_old, V = V, table.estimate(X, chance.batch(batch_size))
        TR = world.W @ (TR + V - V_old)
        yield {"x": X, "t": TR, "v": V, "mean": table.mean()}


def pmgt_saga(world, x0, steps, chance, *, batch_size, step_size, mix_rounds):
    """PMGT-SAGA (Ye et al. 2020)."""
    X = np.tile(x0, (world.m, 1))
    table = Table(world, X)
    V = world.gradient(X)
    S = world.mix(V, mix_rounds)
    yield {"x": X, "s": S, "v": V, "mean": table.mean()}
    for _ in range(steps):
        X = world.mix(world.prox(X - step_size * S, step_size), mix_rounds)
        V_old, V = V, table.estimate(X, chance.batch(batch_size))
        S = world.mix(S + V - V_old, mix_rounds)
        yield {"x": X, "s": S, "v": V, "mean": table.mean()}


def saga(world, x0, steps, chance, *, batch_size, step_size):
    """SAGA (Defazio et al. 2014) on one machine."""
    assert world.m == 1
    x = np.tile(x0, (1, 1))
    table = Table(world, x)
    yield {"x": x, "mean": table.mean()}
    for _ in range(steps):
        v = table.estimate(x, chance.batch(batch_size))
        x = world.prox(x - step_size * v, step_size)
        yield {"x": x, "mean": table.mean()}
