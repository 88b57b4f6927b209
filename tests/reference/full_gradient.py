"""Methods with full gradients and plain gossip, in matrix form."""

from __future__ import annotations

import numpy as np


def halved(world):
    """W̃ = (I + W)/2."""
    return (np.eye(world.m) + world.W) / 2


def pg_extra(world, x0, steps, chance, *, step_size):
    """PG-EXTRA (Shi et al. 2015, Algorithm 1): the two half steps as printed there."""
    del chance
    W, W_tilde, alpha = world.W, halved(world), step_size
    X_old = np.tile(x0, (world.m, 1))
    yield {"x": X_old}
    H = W @ X_old - alpha * world.gradient(X_old)
    X = world.prox(H, alpha)
    yield {"x": X, "h": H, "Wt_x": W_tilde @ X_old, "grad_x": world.gradient(X_old)}
    for _ in range(steps - 1):
        G, G_old = world.gradient(X), world.gradient(X_old)
        H = H + W @ X - W_tilde @ X_old - alpha * (G - G_old)
        X_old, X = X, world.prox(H, alpha)
        yield {"x": X, "h": H, "Wt_x": W_tilde @ X_old, "grad_x": G}


def nids(world, x0, steps, chance, *, step_size):
    """NIDS (Li, Shi, Yan 2019, Algorithm 1) with W̃ = (I + W)/2."""
    del chance
    W_tilde, alpha = halved(world), step_size
    X_old = np.tile(x0, (world.m, 1))
    yield {"x": X_old}
    G_old = world.gradient(X_old)
    Z = X_old - alpha * G_old
    X = world.prox(Z, alpha)
    yield {"x": X, "z": Z, "x_old": X_old, "grad_old": G_old}
    for _ in range(steps - 1):
        G = world.gradient(X)
        Z = Z - X + W_tilde @ (2 * X - X_old - alpha * G + alpha * G_old)
        X_old, G_old, X = X, G, world.prox(Z, alpha)
        yield {"x": X, "z": Z, "x_old": X_old, "grad_old": G_old}


def extra(world, x0, steps, chance, *, step_size):
    """EXTRA (Shi et al. 2015, Algorithm 1), with all gradients taken again."""
    del chance
    W, W_tilde, alpha = world.W, halved(world), step_size
    X_old = np.tile(x0, (world.m, 1))
    yield {"x": X_old}
    X = W @ X_old - alpha * world.gradient(X_old)
    yield {"x": X, "Wt_x": W_tilde @ X_old, "grad_x": world.gradient(X_old)}
    for _ in range(steps - 1):
        G, G_old = world.gradient(X), world.gradient(X_old)
        X_new = (np.eye(world.m) + W) @ X - W_tilde @ X_old - alpha * (G - G_old)
        X_old, X = X, X_new
        yield {"x": X, "Wt_x": W_tilde @ X_old, "grad_x": G}


def exact_diffusion(world, x0, steps, chance, *, step_size):
    """Exact diffusion (Yuan et al. 2018): adapt, correct, combine."""
    del chance
    X = PSI = np.tile(x0, (world.m, 1))
    yield {"x": X, "psi": PSI}
    for _ in range(steps):
        PSI_old, PSI = PSI, X - step_size * world.gradient(X)
        PHI = PSI + X - PSI_old
        X = halved(world) @ PHI
        yield {"x": X, "psi": PSI}


def p2d2(world, x0, steps, chance, *, step_size):
    """P2D2 (Alghunaim et al. 2019)."""
    del chance
    X = Z = PSI = np.tile(x0, (world.m, 1))
    yield {"x": X, "z": Z, "psi": PSI}
    for _ in range(steps):
        PSI_old, PSI = PSI, X - step_size * world.gradient(X)
        Z = halved(world) @ (PSI + Z - PSI_old)
        X = world.prox(Z, step_size)
        yield {"x": X, "z": Z, "psi": PSI}


def sonata(world, x0, steps, chance, *, step_size, relaxation):
    """SONATA with the linear surrogate; the local minimiser is a proximal step."""
    del chance
    X = np.tile(x0, (world.m, 1))
    G = TR = world.gradient(X)
    yield {"x": X, "t": TR, "grad_x": G}
    for _ in range(steps):
        X_hat = world.prox(X - step_size * TR, step_size)
        X = world.W @ ((1 - relaxation) * X + relaxation * X_hat)
        G_old, G = G, world.gradient(X)
        TR = world.W @ (TR + G - G_old)
        yield {"x": X, "t": TR, "grad_x": G}


def dgt(world, x0, steps, chance, *, step_size):
    """Gradient tracking (Qu and Li 2018): combine, then adapt."""
    del chance
    X = np.tile(x0, (world.m, 1))
    G = TR = world.gradient(X)
    yield {"x": X, "t": TR, "grad_x": G}
    for _ in range(steps):
        X = world.W @ X - step_size * TR
        G_old, G = G, world.gradient(X)
        TR = world.W @ TR + (G - G_old)
        yield {"x": X, "t": TR, "grad_x": G}


def proxskip(world, x0, steps, chance, *, step_size, probability):
    """ProxSkip (Mishchenko et al. 2022) with W̃ in place of the server's mean."""
    alpha, p = step_size, probability
    X = np.tile(x0, (world.m, 1))
    H = np.zeros_like(X)
    yield {"x": X, "h": H}
    for _ in range(steps):
        X_hat = X - alpha * (world.gradient(X) - H)
        X = halved(world) @ X_hat if next(chance.coins) else X_hat
        H = H + (p / alpha) * (X - X_hat)
        yield {"x": X, "h": H}
