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
