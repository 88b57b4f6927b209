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


def solved(world, C, P, c, w, z, epochs, tau, M):
    """PMGT-KatyushaX on ½⟨z, (cI − PCP)z⟩ − ⟨w, z⟩, one inner step an epoch."""
    weight = [world.weight(i) for i in range(world.m)]

    def gradient(x):
        return np.array(
            [
                weight[i] * (c[i] * x[i] - w[i]) - P[i] @ C[i] @ P[i] @ x[i]
                for i in range(world.m)
            ]
        )

    eta = (1.3 / c)[:, None]
    x = y = q = z
    g = gradient(x)
    tracker = mixed(world, g, M)
    for _ in range(epochs):
        x = mixed(world, tau * q + (1 - tau) * y, M)
        g_old, g = g, gradient(x)
        tracker = mixed(world, tracker + g - g_old, M)
        y = mixed(world, x - eta * mixed(world, tracker, M), M)
        ahead = (q + tau / 2 * y - (x - y) / (2 * tau)) / (1 + tau / 2)
        q = mixed(world, ahead, M)
    return y


def lazysvd(
    world, start, steps, *, inner, batch_size, tolerance, mix_rounds, agree_rounds,
    exact_rounds,
):  # fmt: skip
    """Shift-and-invert on what the vectors found so far leave, the shift halved."""
    assert inner == "pmgt-katyushax"
    assert batch_size >= world.n, "an epoch has one inner step"
    del agree_rounds  # flags are exact
    C, k, m = covariances(world), start.shape[1], world.m
    c = 1.1 * mixed(world, [[np.trace(A)] for A in C], exact_rounds)[:, 0]
    done = [np.zeros((len(start), 0))] * m
    values = np.zeros((m, k))
    w = np.array([start[:, 0]] * m)
    stage, searching, solves = 0, True, 0
    z, moves = w / c[:, None], []
    for _ in range(steps):
        tau = min(0.5, 0.8 * np.sqrt(1.3 * (1 - 1 / 1.1) * 0.42**stage))
        P = [np.eye(len(start)) - V @ V.T for V in done]
        epochs = int(np.ceil(1 / tau))
        z = solved(world, C, P, c, w, z, epochs, tau, mix_rounds)
        z = np.array([p @ one for p, one in zip(P, z, strict=True)])
        length = np.linalg.norm(z, axis=1)
        old, w = w, z / length[:, None]
        gap = np.sum(w * old, axis=1) / length
        j = done[0].shape[1]
        values[:, j] = c - gap
        moves.append(np.linalg.norm(w - old, axis=1))
        z = w / gap[:, None]
        solves += 1
        if solves % 4 == 0:
            before = moves[-2] if len(moves) > 1 else 1.0
            far = (moves[-1] > tolerance).any()
            slow = ((moves[-1] > 0.4 * before) & (moves[-1] > tolerance**0.5)).any()
            if not far and j + 1 < k:
                done = [
                    orth(np.column_stack([V, one]))
                    for V, one in zip(done, w, strict=True)
                ]
                w = np.array(
                    [start[:, j + 1] - V @ (V.T @ start[:, j + 1]) for V in done]
                )
                w /= np.linalg.norm(w, axis=1)[:, None]
                z, moves, searching, solves = w / c[:, None], [], True, 0
            elif searching and slow:
                c_old = c
                c = mixed(world, (c - gap / 2)[:, None], exact_rounds)[:, 0]
                z = w / (gap - (c_old - c))[:, None]
                stage += 1
            else:
                searching = False
        j = done[0].shape[1]
        found = [
            orth(np.column_stack([V, one, start[:, j + 1 :]]))
            for V, one in zip(done, w, strict=True)
        ]
        yield {"V": np.array(found), "values": values.copy()}


REFERENCES = {
    "covariance": covariance,
    "deepca": deepca,
    "lanczos": lanczos,
    "shift-invert": lazysvd,
    "lazysvd": lazysvd,
}
"""Called as ``reference(world, start, steps, **parameters)``; of each step's state."""
