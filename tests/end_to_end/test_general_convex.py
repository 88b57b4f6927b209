"""``epsilon`` in a config: least squares and lasso with fewer rows than columns."""

from __future__ import annotations

import numpy as np
import pytest
from mpi4py import MPI

from pmgt_mpi.data.loading import load_shard
from pmgt_mpi.data.sources.gaussian import Gaussian
from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.streams import seed_sequence
from tests.support.running import SMALL, Left, run_config

EPSILON = 1e-3
DATA = {"rows": 40, "columns": 60, "labels": "linear", "condition": 10.0}
SETS = (
    "data.source=gaussian",
    *(f"data.{key}={value}" for key, value in DATA.items()),
    "stop.steps=400",
    "algorithm.2.steps=2000",
    "algorithm.3.steps=2000",
    "evaluate.every=50",
    f"problem.epsilon={EPSILON}",
)
CONVEX = SMALL.replace('kind = "shift-invert-pca"\nratio = 2.0', 'kind = "ridge"')


def whole():
    source = Gaussian(**DATA)
    seed = seed_sequence(3, "data")
    return load_shard(Collective(MPI.COMM_SELF), source, seed=seed)


@pytest.mark.parametrize("strength", [0.0, 0.05])
def test_every_method_comes_within_epsilon(tmp_path, strength):
    sets = SETS
    if strength:
        sets += ("regularizer.kind=l1", f"regularizer.strength={strength}")
    result = run_config(tmp_path, CONVEX, set=sets, timeout=120).expect(0)
    left = Left(tmp_path / "out")
    epsilon_f = left.meta["epsilon_f"]
    assert (
        f"eps_f = {epsilon_f:.3g}; what is told is F" in result.stderr + result.stdout
    )
    assert left.meta["constants"]["sigma"] == pytest.approx(epsilon_f)
    assert 0 < epsilon_f <= EPSILON
    shard, solution = whole(), left.solution

    def F(x):
        smooth = 0.5 * np.mean((shard.A @ x - shard.labels) ** 2)
        return smooth + strength * np.abs(x).sum()

    best = F(solution["reference"])
    if not strength:
        assert best == pytest.approx(0.0, abs=1e-20), "more columns than rows"
    assert len(left.summary) == 4
    for summary in left.summary:
        found = F(solution[summary["algorithm"]])
        assert summary["objective"] == pytest.approx(found, rel=1e-9)
        assert summary["suboptimality"] == pytest.approx(found - best, abs=1e-12)
        assert summary["suboptimality"] <= EPSILON
