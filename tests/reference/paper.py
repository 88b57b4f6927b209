"""The paper's Algorithms 1 and 3, in matrix form.

A reference yields its variables at the start and after each step, by the names that the
package's states use. Everything random comes in from outside (`Chance`), so that a run
of the package can be compared number by number.
"""

from __future__ import annotations

import numpy as np


def pmgt_katyushax(
    world, x0, steps, chance, *, batch_size, step_size, momentum, mix_rounds
):
    """Algorithm 1."""
    eta, tau, M = step_size, momentum, mix_rounds
    X = Y = Q = np.tile(x0, (world.m, 1))
    G = world.gradient(X)
    S_hat = world.mix(G, M)
    yield {"x": X, "y": Y, "q": Q, "s_hat": S_hat, "grad_x": G}
    for _ in range(steps):
        X = world.mix(tau * Q + (1 - tau) * Y, M)
        G_old, G = G, world.gradient(X)
        S_hat = world.mix(S_hat + G - G_old, M)
        Y = svrg_epoch(world, X, S_hat, chance, batch_size, eta, M)
        Q = world.mix((Q + tau / 2 * Y - (X - Y) / (2 * tau)) / (1 + tau / 2), M)
        yield {"x": X, "y": Y, "q": Q, "s_hat": S_hat, "grad_x": G}


def pmgt_svrg(world, x0, steps, chance, *, batch_size, step_size, mix_rounds):
    """Algorithm 3, mixing y first and taking the gradient at the mixed point."""
    eta, M = step_size, mix_rounds
    X = Y = np.tile(x0, (world.m, 1))
    G = world.gradient(X)
    S_hat = world.mix(G, M)
    yield {"x": X, "y": Y, "s_hat": S_hat, "grad_x": G}
    for _ in range(steps):
        X = world.mix(Y, M)
        G_old, G = G, world.gradient(X)
        S_hat = world.mix(S_hat + G - G_old, M)
        Y = svrg_epoch(world, X, S_hat, chance, batch_size, eta, M)
        yield {"x": X, "y": Y, "s_hat": S_hat, "grad_x": G}


def svrg_epoch(world, W0, MU, chance, batch_size, eta, M):
    """Lines 9 to 14 of Algorithm 1: t = 0, …, T."""
    S, V, WT = MU, MU, W0
    for _ in range(next(chance.T) + 1):
        V_old = V
        V = MU + world.minibatch_difference(WT, W0, chance.batch(batch_size))
        S = world.mix(S + V - V_old, M)
        WT = world.mix(world.prox(WT - eta * S, eta), M)
    return WT


def katyushax(world, x0, steps, chance, *, batch_size, step_size, momentum):
    """Allen-Zhu's KatyushaX on one machine: nothing is mixed or tracked."""
    assert world.m == 1
    eta, tau = step_size, momentum
    x = y = q = np.tile(x0, (1, 1))
    G = world.gradient(x)
    yield {"x": x, "y": y, "q": q, "s_hat": G, "grad_x": G}
    for _ in range(steps):
        x = tau * q + (1 - tau) * y
        G = world.gradient(x)
        y = single_epoch(world, x, G, chance, batch_size, eta)
        q = (q + tau / 2 * y - (x - y) / (2 * tau)) / (1 + tau / 2)
        yield {"x": x, "y": y, "q": q, "s_hat": G, "grad_x": G}


def svrg(world, x0, steps, chance, *, batch_size, step_size):
    """Proximal SVRG on one machine, from epoch to epoch with the last iterate."""
    assert world.m == 1
    y = np.tile(x0, (1, 1))
    G = world.gradient(y)
    yield {"x": y, "y": y, "s_hat": G, "grad_x": G}
    for _ in range(steps):
        x, G = y, world.gradient(y)
        y = single_epoch(world, x, G, chance, batch_size, step_size)
        yield {"x": x, "y": y, "s_hat": G, "grad_x": G}


def single_epoch(world, w0, full, chance, batch_size, eta):
    w = w0
    for _ in range(next(chance.T) + 1):
        v = full + world.minibatch_difference(w, w0, chance.batch(batch_size))
        w = world.prox(w - eta * v, eta)
    return w
