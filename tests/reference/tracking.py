"""Gradient tracking with SVRG's and SARAH's estimates, in matrix form."""

from __future__ import annotations

import numpy as np


def gt_svrg(world, x0, steps, chance, *, batch_size, period, step_size):
    """GT-SVRG (Xin et al. 2020): combine, then adapt."""
    X = snapshot = np.tile(x0, (world.m, 1))
    MU = V = TR = world.gradient(X)
    yield {"x": X, "t": TR, "v": V, "w": snapshot, "mu": MU}
    for k in range(1, steps + 1):
        X = world.W @ X - step_size * TR
        if k % period == 0:
            snapshot, MU = X, world.gradient(X)
        V_old = V
        V = world.minibatch_difference(X, snapshot, chance.batch(batch_size)) + MU
        TR = world.W @ TR + V - V_old
        yield {"x": X, "t": TR, "v": V, "w": snapshot, "mu": MU}


def d_get(world, x0, steps, chance, *, batch_size, period, step_size):
    """D-GET (Sun et al. 2020): combine, then adapt, with SARAH's estimates."""
    X = np.tile(x0, (world.m, 1))
    V = TR = world.gradient(X)
    yield {"x": X, "t": TR, "v": V}
    for k in range(1, steps + 1):
        X_old, X = X, world.W @ X - step_size * TR
        V_old, V = V, sarah(world, X, X_old, V, k % period == 0, chance, batch_size)
        TR = world.W @ TR + V - V_old
        yield {"x": X, "t": TR, "v": V}


def gt_sarah(world, x0, steps, chance, *, batch_size, period, step_size):
    """GT-SARAH (Xin et al. 2022): adapt, then combine."""
    X = np.tile(x0, (world.m, 1))
    V = TR = world.gradient(X)
    yield {"x": X, "t": TR, "v": V}
    for k in range(1, steps + 1):
        X_old, X = X, world.W @ (X - step_size * TR)
        V_old, V = V, sarah(world, X, X_old, V, k % period == 0, chance, batch_size)
        TR = world.W @ (TR + V - V_old)
        yield {"x": X, "t": TR, "v": V}


def sarah(world, X, X_old, V, full, chance, batch_size):
    """The recursive estimate, or the full gradient."""
    if full:
        return world.gradient(X)
    return V + world.minibatch_difference(X, X_old, chance.batch(batch_size))


def pmgt_lsvrg(
    world, x0, steps, chance, *, batch_size, probability, step_size, mix_rounds
):
    """PMGT-LSVRG (Ye et al. 2020), with one coin for all agents."""
    del probability
    X = snapshot = np.tile(x0, (world.m, 1))
    MU = V = world.gradient(X)
    S = world.mix(V, mix_rounds)
    yield {"x": X, "s": S, "v": V, "w": snapshot, "mu": MU}
    for _ in range(steps):
        X = world.mix(world.prox(X - step_size * S, step_size), mix_rounds)
        V_old = V
        V = MU + world.minibatch_difference(X, snapshot, chance.batch(batch_size))
        S = world.mix(S + V - V_old, mix_rounds)
        if next(chance.coins):
            snapshot, MU = X, world.gradient(X)
        yield {"x": X, "s": S, "v": V, "w": snapshot, "mu": MU}


def dearest(
    world, x0, steps, chance, *, batch_size, probability, step_size, mix_rounds
):
    """DEAREST (Luo and Ye 2022), with a proximal step."""
    del probability
    X = np.tile(x0, (world.m, 1))
    V = world.gradient(X)
    S = world.mix(V, mix_rounds)
    yield {"x": X, "s": S, "v": V}
    for _ in range(steps):
        X_old, X = X, world.mix(world.prox(X - step_size * S, step_size), mix_rounds)
        V_old, V = V, sarah(world, X, X_old, V, next(chance.coins), chance, batch_size)
        S = world.mix(S + V - V_old, mix_rounds)
        yield {"x": X, "s": S, "v": V}


def destress(
    world, x0, steps, chance, *,
    batch_size, inner_steps, activation, step_size, mix_rounds, inner_rounds,
):  # fmt: skip
    """DESTRESS (Li et al. 2022); an agent that rests draws no rows."""
    X = np.tile(x0, (world.m, 1))
    S = G = np.zeros_like(X)
    yield {"x": X, "s": S, "grad_x": G}
    for _ in range(steps):
        G_old, G = G, world.gradient(X)
        S = world.mix(S + G - G_old, mix_rounds)
        U, V = X, S
        for t in range(inner_steps):
            U_old, U = U, world.mix(U - step_size * V, inner_rounds)
            if t == inner_steps - 1:
                break  # no further u asks for the next v
            change = np.zeros_like(X)
            for i in range(world.m):
                if next(chance.own_coins[i]):
                    B = next(chance.batches[i])
                    assert len(B) == batch_size
                    for j in B:
                        change[i] += world.component_gradient(i, int(j), U[i])
                        change[i] -= world.component_gradient(i, int(j), U_old[i])
                    change[i] /= activation * len(B)
            V = world.mix(V + change, inner_rounds)
        X = U
        yield {"x": X, "s": S, "grad_x": G}


def vr_extra(world, x0, steps, chance, *, batch_size, probability, step_size):
    """VR-EXTRA (Li et al. 2022) as printed: EXTRA, with estimates for gradients."""
    del probability
    W, W_tilde = world.W, (np.eye(world.m) + world.W) / 2
    X_old = X = snapshot = np.tile(x0, (world.m, 1))
    Q, MU, V_old = np.zeros_like(X), world.gradient(X), None
    yield {"x": X, "q": Q, "w": snapshot, "mu": MU}
    for _ in range(steps):
        V = MU + world.minibatch_difference(X, snapshot, chance.batch(batch_size))
        Q = Q + (X - W @ X) / 2
        if V_old is None:
            X_new = W @ X - step_size * V
        else:
            X_new = X + W @ X - W_tilde @ X_old - step_size * (V - V_old)
        if next(chance.coins):
            snapshot, MU = X, world.gradient(X)
        X_old, X, V_old = X, X_new, V
        yield {"x": X, "q": Q, "w": snapshot, "mu": MU}
