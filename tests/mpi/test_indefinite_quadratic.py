"""Indefinite quadratics on several agents: constants, and every method converges."""

from __future__ import annotations

import numpy as np
import pytest

import pmgt_mpi
from pmgt_mpi.data.partition import block_bounds, block_sizes
from pmgt_mpi.data.shard import Shard
from pmgt_mpi.problems.indefinite_quadratic import IndefiniteQuadratic

N, D = 403, 6
OPTIONS = {"condition": 25.0, "l1": 4.0, "l2": 12.0}


def own_rows(collective, shares=None):
    """Sorted by the first column, so that the agents' functions differ."""
    A = np.random.default_rng(8).standard_normal((N, D))
    A = A[np.argsort(A[:, 0])]
    bounds = block_bounds(block_sizes(N, collective.agents, shares))
    return A[bounds[collective.agent] : bounds[collective.agent + 1]]


def test_constants_against_every_row_of_unequal_shards(collective, together):
    m = collective.agents
    A = own_rows(collective, range(1, m + 1))
    shard = Shard(A, None, N, m)
    problem = IndefiniteQuadratic(shard, collective, **OPTIONS)
    found = problem.constants(collective)
    eye, zero = np.eye(D), np.zeros(D)
    H = [
        [problem.minibatch_difference(e, zero, np.array([j])) for e in eye]
        for j in range(len(A))
    ]
    H = shard.weight * np.array(H)
    everywhere = collective.gather(H)
    rows = np.linalg.eigvalsh(np.concatenate(everywhere))
    local = np.linalg.eigvalsh([part.mean(axis=0) for part in everywhere])
    # The mean over agents of weight · mean over rows is the mean over all rows.
    mean = np.linalg.eigvalsh(np.mean([p.mean(axis=0) for p in everywhere], axis=0))
    with together:
        assert mean[-1] == pytest.approx(1.0, rel=1e-12)
        assert mean[-1] / mean[0] == pytest.approx(25.0, rel=1e-11)
        assert [found.L, found.sigma] == pytest.approx([1.0, 1 / 25], rel=1e-11)
        assert found.l1 == pytest.approx(rows.max(), rel=1e-12)
        assert found.l2 == pytest.approx(max(rows.max(), -rows.min()), rel=1e-12)
        assert found.L_local == pytest.approx(np.abs(local).max(), rel=1e-12)
        assert found.mu_local == pytest.approx(local.min(), rel=1e-10)
        if m == 1:
            assert (found.l1, found.l2) == pytest.approx((4.0, 12.0), rel=1e-14)
    unweighted = collective.gather((problem.h.A.min(), problem.h.A.max()))
    with together:
        low, high = zip(*unweighted, strict=True)
        assert [min(low), max(high)] == pytest.approx([-12.0, 4.0], rel=1e-14)


@pytest.mark.parametrize("name", ["pmgt-katyushax", "pmgt-svrg", "pg-extra", "nids"])
def test_auto_parameters_converge(comm, collective, together, name):
    result = pmgt_mpi.solve(
        {"kind": "indefinite-quadratic", **OPTIONS},
        own_rows(collective),
        algorithm=name,
        network="ring",
        steps=20_000,
        relative_suboptimality=1e-10,
        evaluate_every=10,
        comm=comm,
    )
    with together:
        assert result.status == "converged"
        assert result.trace[-1]["relative_suboptimality"] <= 1e-10
