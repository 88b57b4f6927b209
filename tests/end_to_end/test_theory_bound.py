"""``[evaluate] theory_bound = true``: a column of metrics.jsonl, null where none is."""

from __future__ import annotations

import pytest

from tests.support.running import Left, run_config

SETS = (
    "evaluate.theory_bound=true",
    "stop.steps=3",
    "algorithm.0.step_size=theory",
    "algorithm.0.momentum=theory",
    "algorithm.0.mix_rounds=theory",
)


def test_metrics_have_the_bound(tmp_path):
    run_config(tmp_path, set=SETS, ranks=2).expect(0)
    left = Left(tmp_path / "out")
    bounds = {}
    for record in left.metrics:
        bounds.setdefault(record["algorithm"], []).append(record["theory_bound"])
    tau = left.summary[0]["parameters"]["momentum"]
    start = left.metrics[0]["suboptimality"]
    expected = [3 * start * (1 + tau / 2) ** -k for k in range(4)]
    assert bounds.pop("pmgt-katyushax") == pytest.approx(expected, rel=1e-12)
    # PMGT-SVRG runs with `auto`, of which its theorem does not speak.
    assert set(bounds) == {"pmgt-svrg", "pg-extra", "nids"}
    assert all(bound == [None] * 4 for bound in bounds.values())
    assert left.summary[0]["theory_bound"] == pytest.approx(expected[-1], rel=1e-12)
