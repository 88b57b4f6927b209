"""The config of the indefinite quadratics: constants as written, all converge."""

from __future__ import annotations

import pytest

from tests.launcher import ROOT
from tests.support.running import Left, run_config

TEXT = (ROOT / "configs/indefinite-quadratic.toml").read_text()


def test_the_config_that_is_shown(tmp_path):
    run_config(tmp_path, TEXT, ranks=4, timeout=120).expect(0)
    left = Left(tmp_path / "out")
    found = left.meta["constants"]
    asked = {"L": 1.0, "sigma": 0.01, "l1": 5.0, "l2": 20.0}
    assert {name: found[name] for name in asked} == pytest.approx(asked, rel=1e-9)
    assert found["mu_local"] < -0.1, "an f_i is not convex"
    assert len(left.summary) == 4
    for summary in left.summary:
        assert summary["status"] == "converged"
        assert summary["relative_suboptimality"] <= 1e-10
