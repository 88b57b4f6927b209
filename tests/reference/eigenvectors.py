"""Leading eigenvectors in matrix form: C_i are matrices, all agents at once."""

from __future__ import annotations

import numpy as np


def covariances(world, centre=True):
    """weight · C_i, made row by row of nothing but the definition."""
    rows = np.concatenate(world.A)
    mean = rows.mean(axis=0) * centre
    return [
        world.weight(i) * sum(np.outer(a - mean, a - mean) for a in A) / len(A)
        for i, A in enumerate(world.A)
    ]


def mixed(world, X, M):
    """M rounds on one matrix of each agent."""
    X = np.array(X)
    return world.mix(X.reshape(len(X), -1), M).reshape(X.shape)


def orth(S):
    """Gram and Schmidt, twice, in whose R the diagonal is positive."""
    S = S.copy()
    for _ in range(2):
        for j in range(S.shape[1]):
            for i in range(j):
                S[:, j] -= S[:, i] * (S[:, i] @ S[:, j])
            S[:, j] /= np.sqrt(S[:, j] @ S[:, j])
    return S


def top(C, k):
    values, vectors = np.linalg.eigh(C)
    order = np.argsort(-values)[:k]
    return values[order], vectors[:, order]


def towards(V, start):
    """Signs of columns as those of the start."""
    pairs = zip(V.T, start.T, strict=True)
    return np.array([v if v @ s >= 0 else -v for v, s in pairs]).T


def covariance(world, start, steps, *, tolerance, mix_rounds):
    """C ← mix(C), and the eigenvectors of each agent's C."""
    del tolerance
    C = covariances(world)
    for _ in range(steps):
        C = mixed(world, C, mix_rounds)
        found = [top(c, start.shape[1]) for c in C]
        yield {
            "V": np.array([towards(V, start) for _, V in found]),
            "values": np.array([values for values, _ in found]),
        }


def deepca(world, start, steps, *, mix_rounds):
    """Algorithm 1 of Ye and Zhang (2021), as it is started there."""
    C = covariances(world)
    V = [start] * world.m
    S = mixed(world, [c @ start for c in C], mix_rounds)
    for _ in range(steps):
        V_old, V = V, [orth(s) for s in S]
        yield {"S": S, "V": np.array(V)}
        tracked = [
            s + c @ v - c @ v_old for s, c, v, v_old in zip(S, C, V, V_old, strict=True)
        ]
        S = mixed(world, tracked, mix_rounds)


def meeting(Q, CQ):
    """qᵀCq' for each two columns, with the product of the first."""
    H = np.empty((Q.shape[1],) * 2)
    for i in range(len(H)):
        for j in range(i, len(H)):
            H[i, j] = H[j, i] = CQ[:, i] @ Q[:, j]
    return H


def lanczos(world, start, steps, *, tolerance, basis, mix_rounds):
    """Rayleigh and Ritz in a growing basis, thick restarts, every product mixed."""
    del tolerance
    C, k, d = covariances(world), start.shape[1], len(start)
    most = min(d, max(basis, 3 * k))
    width = min(k, most - k)
    Q = [start] * world.m
    CQ = list(mixed(world, [c @ start for c in C], mix_rounds))
    for _ in range(steps):
        blocks = []
        for i in range(world.m):
            H = meeting(Q[i], CQ[i])
            _, Y = top(H, k)
            V, CV = Q[i] @ Y, CQ[i] @ Y
            R = (CV - V * np.diag(V.T @ CV)) @ (V.T @ start)
            if Q[i].shape[1] + width > most:
                _, Y = top(H, min(2 * k, most - width))
                Q[i], CQ[i] = Q[i] @ Y, CQ[i] @ Y
            R = R[:, -width:]
            blocks.append(orth(R - Q[i] @ (Q[i].T @ R)))
        blocks = mixed(world, blocks, mix_rounds)
        blocks = [orth(b - q @ (q.T @ b)) for b, q in zip(blocks, Q, strict=True)]
        CB = mixed(world, [c @ b for c, b in zip(C, blocks, strict=True)], mix_rounds)
        Q = [np.hstack(pair) for pair in zip(Q, blocks, strict=True)]
        CQ = [np.hstack(pair) for pair in zip(CQ, CB, strict=True)]
        found = []
        for q, cq in zip(Q, CQ, strict=True):
            values, Y = top(meeting(q, cq), k)
            found.append((values, towards(q @ Y, start)))
        yield {
            "V": np.array([V for _, V in found]),
            "values": np.array([values for values, _ in found]),
        }


REFERENCES = {"covariance": covariance, "deepca": deepca, "lanczos": lanczos}
"""Called as ``reference(world, start, steps, **parameters)``; of each step's state."""
