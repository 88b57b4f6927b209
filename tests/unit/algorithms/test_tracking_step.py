"""The step of gradient tracking keeps its iteration stable, found by its spectrum."""

from __future__ import annotations

import numpy as np
import pytest

from pmgt_mpi.algorithms.step_sizes import tracking_step
from pmgt_mpi.graphs.build import build_network
from pmgt_mpi.problems.base import Constants
from tests.unit.algorithms.settings import setting

D = 3


def hessians(rng, m, difference, indefinite):
    """Agents' second derivatives whose mean is convex."""
    scales = np.geomspace(1, 0.1, D)
    parts = []
    for _ in range(m):
        A = rng.normal(size=(40, D)) * scales * (1 + difference * rng.uniform())
        A += 0.5 * difference * rng.normal(size=D) * scales
        parts.append(A.T @ A / 40)
    top = np.linalg.eigvalsh(sum(parts) / m)
    if indefinite:  # the paper's problem at r = 2
        shift = top[-1] + (top[-1] - top[-2]) / 2
        return [shift * np.eye(D) - part for part in parts]
    return [part + 0.01 * top[-1] * np.eye(D) for part in parts]


def spectral_radius(W, H, alpha, adapt_first):
    """Of the iteration in (x, t), without the D directions in which it stands still."""
    m = len(H)
    big_W, identity = np.kron(W, np.eye(D)), np.eye(m * D)
    G = np.zeros((m * D, m * D))
    for i, part in enumerate(H):
        G[i * D : (i + 1) * D, i * D : (i + 1) * D] = part
    first = big_W if adapt_first else identity
    x_from_x, x_from_t = big_W, -alpha * first
    t_from_x = first @ G @ (x_from_x - identity)
    t_from_t = big_W + first @ G @ x_from_t
    whole = np.block([[x_from_x, x_from_t], [t_from_x, t_from_t]])
    return np.sort(np.abs(np.linalg.eigvals(whole)))[-(D + 1)]


@pytest.mark.parametrize("weights", ["laplacian", "metropolis", "best-constant"])
@pytest.mark.parametrize("graph", ["ring", "path", "star", "complete", "exponential"])
@pytest.mark.parametrize("adapt_first", [True, False])
def test_auto_is_stable_and_thirty_times_it_is_not_always(graph, weights, adapt_first):
    rng = np.random.default_rng(0)
    worst = []
    for m in (2, 4, 9):
        network = build_network(m, rng, topology=graph, weights=weights)
        for difference in (0.0, 1.0, 2.0):
            for indefinite in (True, False):
                H = hessians(rng, m, difference, indefinite)
                mean = np.linalg.eigvalsh(sum(H) / m)
                own = [np.linalg.eigvalsh(part) for part in H]
                constants = Constants(
                    L=mean[-1],
                    l1=mean[-1],
                    l2=mean[-1],
                    sigma=mean[0],
                    L_local=max(np.abs(part).max() for part in own),
                )
                here = setting(
                    agents=m,
                    constants=constants,
                    lambda_2=network.lambda_2,
                    lambda_min=network.lambda_min,
                )
                alpha = tracking_step("sonata", "auto", here, adapt_first=adapt_first)
                W = network.W.toarray()
                assert spectral_radius(W, H, alpha, adapt_first) < 1
                worst.append(spectral_radius(W, H, 30 * alpha, adapt_first))
    assert max(worst) > 1
