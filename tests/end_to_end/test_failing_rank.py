"""A rank that raises ends the job within seconds, by name; plug-ins on request only."""

from __future__ import annotations

import pytest

from tests.support.running import SMALL, Left, run_config

PLUGIN = '''
import numpy as np


class Mean:
    """f_ij(x) = ½ ‖x − a_ij‖²: its minimiser is the mean of all rows."""

    def __init__(self, shard, collective, *, fail_in: str = "", agent: int = 0):
        self.A, self.rows, self.shape = shard.A, shard.rows, (shard.columns,)
        self.fail_in = fail_in if collective.agent == agent else ""
        self.calls = 0
        if self.fail_in == "setup":
            raise RuntimeError("broken at set-up")

    def value(self, x):
        return float(((self.A - x) ** 2).sum(axis=1).mean() / 2)

    def grad(self, x):
        self.calls += 1
        if self.fail_in == "step" and self.calls == 3:
            raise RuntimeError("broken in the middle")
        return x - self.A.mean(axis=0)

    def minibatch_grad(self, x, rows):
        return x - self.A[rows].mean(axis=0)
'''

TEXT = (
    SMALL.split("[problem]")[0]
    + """
[problem]
kind = "plugin:Mean"

[stop]
steps = 60

[[algorithm]]
name = "nids"
step_size = 0.5
"""
)


def test_a_plugin_runs_and_is_solved(tmp_path):
    (tmp_path / "plugin.py").write_text(PLUGIN)
    run_config(tmp_path, TEXT, more=("--allow-plugins",)).expect(0)
    left = Left(tmp_path / "out")
    x, agents = left.solution["nids"], left.solution["nids/agents"]
    assert left.summary[0]["suboptimality"] is None
    assert abs(agents - x).max() < 1e-6
    assert left.summary[0]["objective"] < left.metrics[0]["objective"]


@pytest.mark.parametrize(
    ("where", "text"),
    [("setup", "broken at set-up"), ("step", "broken in the middle")],
)
def test_a_rank_that_raises_ends_the_job_and_is_named(tmp_path, where, text):
    (tmp_path / "plugin.py").write_text(PLUGIN)
    sets = (f"problem.fail_in={where}", "problem.agent=2")
    result = run_config(tmp_path, TEXT, set=sets, more=("--allow-plugins",))
    assert result.returncode != 0
    assert not result.survivors
    assert result.seconds < 5
    assert "pmgt_mpi: agent 2 on " in result.stderr
    assert f"failed: RuntimeError: {text}" in result.stderr
