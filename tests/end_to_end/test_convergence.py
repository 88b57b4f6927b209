"""The paper's synthetic problem: all algorithms reach the direct solution."""

from __future__ import annotations

import numpy as np
import pytest

from pmgt_mpi.data.loading import load_shard
from pmgt_mpi.data.sources.bernoulli import Bernoulli
from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.streams import seed_sequence
from tests.launcher import ROOT
from tests.support.running import SMALL_ALGORITHMS, Left, run_config

TEXT = (ROOT / "configs/quickstart.toml").read_text()


@pytest.fixture(scope="module")
def direct():
    """x* = −(c I − A)⁻¹ b by numpy, from the whole data set in one process."""
    from mpi4py import MPI

    source = Bernoulli(rows=60_000, columns=50)
    seed = seed_sequence(1, "data")
    rows = load_shard(Collective(MPI.COMM_SELF), source, seed=seed).A
    assert set(np.unique(rows)) == {-1.0, 1.0}
    A = rows.T @ rows / len(rows)
    eigenvalues = np.linalg.eigvalsh(A)
    c = eigenvalues[-1] + (eigenvalues[-1] - eigenvalues[-2]) / 2
    b = np.random.default_rng(0).standard_normal(50)
    return np.linalg.solve(A - c * np.eye(50), b / np.linalg.norm(b))


SIXTEEN = (
    "algorithm.2.step_size=0.5",
    "algorithm.3.step_size=0.5",
    "evaluate.every=2",
    "algorithm.2.evaluate_every=50",
    "algorithm.3.evaluate_every=50",
)
"""Larger than `auto`, for time: sixteen ranks share few cores."""


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("ranks", "values"), [(4, ()), (16, SIXTEEN)])
def test_synthetic_r_2_to_1e_minus_10(tmp_path, direct, ranks, values):
    sets = ("problem.ratio=2", "stop.seconds=200", *values)
    run_config(tmp_path, TEXT, ranks=ranks, set=sets, timeout=280).expect(0)
    left = Left(tmp_path / "out")
    solution = left.solution
    np.testing.assert_allclose(solution["reference"], direct, rtol=1e-9)
    assert [s["name"] for s in left.summary] == list(SMALL_ALGORITHMS)
    for summary in left.summary:
        assert summary["status"] == "converged"
        assert summary["relative_suboptimality"] <= 1e-10
        x = solution[summary["algorithm"]]
        assert np.linalg.norm(x - direct) <= 2e-4 * np.linalg.norm(direct)
        spread = solution[f"{summary['algorithm']}/agents"] - x
        assert np.abs(spread).max() <= 1e-3 * np.linalg.norm(direct)
