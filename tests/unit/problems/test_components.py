"""The constants of single rows, and the odds that keep ADFS within its step."""

from __future__ import annotations

import numpy as np
import pytest
from mpi4py import MPI

from pmgt_mpi.algorithms.adfs import ADFS
from pmgt_mpi.data.shard import Shard
from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.problems.pca import ShiftInvertPCA
from pmgt_mpi.problems.ridge import Ridge
from tests.unit.algorithms.settings import setting


def ridge(l2):
    rng = np.random.default_rng(2)
    A = rng.normal(size=(12, 3)) * np.geomspace(1, 1e-3, 12)[:, None]
    shard = Shard(A, A.sum(axis=1), 12, 1)
    return A, Ridge(shard, Collective(MPI.COMM_SELF), l2=l2)


def test_they_are_sums_over_the_rows():
    A, problem = ridge(0.01)
    c = problem.constants(Collective(MPI.COMM_SELF))
    L = (A**2).sum(axis=1) / 12
    assert c.mu_rows == pytest.approx(0.01)
    assert c.L_rows == pytest.approx(0.01 + L.sum())
    assert c.kappa_rows == pytest.approx((1 + L / 0.01).sum())


@pytest.mark.parametrize("l2", [1e-6, 1e-3, 1.0, 100.0])
def test_twice_the_step_of_adfs_is_at_most_the_odds_of_every_row(l2):
    A, problem = ridge(l2)
    s = setting(constants=problem.constants(Collective(MPI.COMM_SELF)))
    used = ADFS().resolve(s)
    odds = np.sqrt(1 + (A**2).sum(axis=1) / 12 / l2)
    P = (1 - used.probability) * odds / odds.sum()
    assert 2 * used.step_size <= P.min() * (1 + 1e-12)


def test_there_are_none_without_an_l2_term_or_without_convex_components():
    alone = Collective(MPI.COMM_SELF)
    assert ridge(0.0)[1].constants(alone).mu_rows is None
    A = np.random.default_rng(1).normal(size=(12, 3))
    assert ShiftInvertPCA(Shard(A, None, 12, 1), alone).constants(alone).L_rows is None
