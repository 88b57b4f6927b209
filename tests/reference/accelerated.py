"""Full gradients with momentum, or with fewer rounds than gradients, in matrix form."""

from __future__ import annotations

import numpy as np


def mudag(world, x0, steps, chance, *, step_size, momentum, mix_rounds):
    """Mudag (Ye et al. 2020): Nesterov's method on the tracked gradient."""
    del chance
    eta, M = step_size, mix_rounds
    beta = (1 - momentum) / (1 + momentum)
    X = Y = np.tile(x0, (world.m, 1))
    G = world.gradient(Y)
    S = world.mix(G, M)
    yield {"x": X, "y": Y, "s": S, "grad_y": G}
    for _ in range(steps):
        X_old, X = X, world.mix(world.prox(Y - eta * S, eta), M)
        Y = X + beta * (X - X_old)
        G_old, G = G, world.gradient(Y)
        S = world.mix(S + (G - G_old), M)
        yield {"x": X, "y": Y, "s": S, "grad_y": G}


def opapc(
    world, x0, steps, chance, *,
    step_size, momentum, dual_step, convexity, mix_rounds,
):  # fmt: skip
    """OPAPC (Kovalev et al. 2020, Algorithm 2), the implicit steps solved for."""
    del chance
    eta, tau, mu = step_size, momentum, convexity
    theta = dual_step / eta
    X = X_f = np.tile(x0, (world.m, 1))
    Z = np.zeros_like(X)
    yield {"x": X, "x_f": X_f, "z": Z}
    for _ in range(steps):
        X_g = tau * X + (1 - tau) * X_f
        rest = X - eta * (world.gradient(X_g) - mu * X_g)
        half = (rest - eta * Z) / (1 + eta * mu)
        Z = Z + theta * (half - world.mix(half, mix_rounds))
        X_old, X = X, (rest - eta * Z) / (1 + eta * mu)
        X_f = X_g + 2 * tau / (2 - tau) * (X - X_old)
        yield {"x": X, "x_f": X_f, "z": Z}


def opapc_katyusha(
    world, x0, steps, chance, *,
    batch_size, probability, step_size, momentum, dual_step, convexity, mix_rounds,
):  # fmt: skip
    """Loopless Katyusha with the dual step of OPAPC."""
    del probability
    eta, t1, t2, mu = step_size, momentum, 1 / 4, convexity
    X = Z = snapshot = np.tile(x0, (world.m, 1))
    Q, G = np.zeros_like(X), world.gradient(X)
    yield {"x": X, "z": Z, "q": Q, "w": snapshot, "g": G}
    for _ in range(steps):
        Y = t1 * Z + t2 * snapshot + (1 - t1 - t2) * X
        V = world.minibatch_difference(Y, snapshot, chance.batch(batch_size)) + G
        rest = Z - eta * (V - mu * Y)
        half = (rest - eta * Q) / (1 + eta * mu)
        Q = Q + dual_step / eta * (half - world.mix(half, mix_rounds))
        Z_old, Z = Z, (rest - eta * Q) / (1 + eta * mu)
        if next(chance.coins):
            snapshot, G = X, world.gradient(X)
        X = Y + t1 * (Z - Z_old)
        yield {"x": X, "z": Z, "q": Q, "w": snapshot, "g": G}
