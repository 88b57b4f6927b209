"""The Network-* methods (Li, Cen, Chen and Chi 2020), in matrix form."""

from __future__ import annotations

import numpy as np


def outer(world, X, S, G_old, M):
    """Both mixes and the tracked gradient, with which every step begins."""
    Y = world.mix(X, M)
    G = world.gradient(Y)
    return Y, world.mix(S, M) + (G - G_old), G


def network_svrg(
    world, x0, steps, chance, *, batch_size, inner_steps, step_size, mix_rounds
):
    """Network-SVRG: every inner step differs from the outer point."""
    X = np.tile(x0, (world.m, 1))
    S = G = np.zeros_like(X)
    yield {"x": X, "s": S, "grad_y": G}
    for _ in range(steps):
        Y, S, G = outer(world, X, S, G, mix_rounds)
        X, V = Y, S
        for t in range(inner_steps):
            X = X - step_size * V
            if t < inner_steps - 1:
                batches = chance.batch(batch_size)
                V = world.minibatch(X, batches) - world.minibatch(Y, batches) + S
        yield {"x": X, "s": S, "grad_y": G}


def network_sarah(
    world, x0, steps, chance, *, batch_size, inner_steps, step_size, mix_rounds
):
    """Network-SARAH: every inner step differs from the one before."""
    X = np.tile(x0, (world.m, 1))
    S = G = np.zeros_like(X)
    yield {"x": X, "s": S, "grad_y": G}
    for _ in range(steps):
        X, S, G = outer(world, X, S, G, mix_rounds)
        V = S
        for t in range(inner_steps):
            X_old, X = X, X - step_size * V
            if t < inner_steps - 1:
                V = V + world.minibatch_difference(X, X_old, chance.batch(batch_size))
        yield {"x": X, "s": S, "grad_y": G}


def network_dane(
    world, x0, steps, chance, *, inner_steps, step_size, inner_step_size, mix_rounds
):
    """Network-DANE: some steps of Nesterov's method on the regularised surrogate."""
    del chance
    root = np.sqrt(inner_step_size / step_size)
    X = np.tile(x0, (world.m, 1))
    S = G = np.zeros_like(X)
    yield {"x": X, "s": S, "grad_y": G}
    for _ in range(steps):
        Y, S, G = outer(world, X, S, G, mix_rounds)
        X = U = Y
        for _ in range(inner_steps):
            slope = world.gradient(U) - (G - S) + (U - Y) / step_size
            X_old, X = X, U - inner_step_size * slope
            U = X + (1 - root) / (1 + root) * (X - X_old)
        yield {"x": X, "s": S, "grad_y": G}
