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


RIDGE = """
[data]
source = "gaussian"
rows = 120
columns = 4
labels = "linear"
condition = 1.0

[problem]
kind = "ridge"
l2 = 1.0

[stop]
steps = 600

[evaluate]
every = 10
theory_bound = true

[[algorithm]]
name = "pmgt-katyushax"
batch_size = 30
step_size = "theory"
momentum = "theory"
mix_rounds = "theory"
"""


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_no_bound_is_told_that_rounding_does_not_let_the_run_meet(tmp_path, dtype):
    run_config(tmp_path, RIDGE, set=(f"run.dtype={dtype}",)).expect(0)
    records = Left(tmp_path / "out").metrics
    start = records[0]["suboptimality"]
    told = [r for r in records if r["theory_bound"] is not None]
    assert all(r["suboptimality"] <= r["theory_bound"] for r in told)
    assert told == records[: len(told)]
    least = told[-1]["theory_bound"] / start
    if dtype == "float32":
        assert 1e-12 < least < 1e-8
        assert len(told) < len(records)
        assert records[-1]["suboptimality"] > 1e-15 * start, "it stands still there"
    else:
        assert least < 1e-14
