"""A search's trials, with all agents in one process, against the same on ranks."""

from __future__ import annotations

import importlib
import json
import sys
from types import ModuleType

import pytest

from pmgt_mpi.config.read import read_config
from tests.launcher import ROOT, mpirun

CONFIG = """
[run]
seed = 3
[network]
topology = "two-neighbours"
[data]
source = "gaussian"
rows = 403                 # shards of 101, 101, 101 and 100
columns = 6
seed = 8
partition = "shuffled"
[problem]
kind = "shift-invert-pca"
[stop]
steps = 5
[[algorithm]]
name = "pmgt-katyushax"
step_size = 0.05
batch_size = 20
momentum = 0.3
mix_rounds = 3
[[algorithm]]
name = "pmgt-svrg"
step_size = 0.05
batch_size = 20
mix_rounds = 2
[[algorithm]]
name = "pg-extra"
step_size = 0.05
steps = 15
[[algorithm]]
name = "nids"
step_size = 0.05
steps = 15
"""


@pytest.fixture(scope="module")
def row_lab() -> ModuleType:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [*sys.path, str(ROOT / "scripts" / "search")])
        return importlib.import_module("row_lab")


def test_trials_in_one_process_are_the_runs_on_ranks(tmp_path, row_lab):
    path = tmp_path / "config.toml"
    path.write_text(CONFIG)
    out = tmp_path / "run"
    command = ["-m", "pmgt_mpi.run", "--config", str(path), "--out", str(out)]
    mpirun(4, command, timeout=60).expect(0)
    config = read_config(path)
    lab = row_lab.RowLab(config, 4, every=(1, 1))
    on_ranks = json.loads((out / "summary.json").read_text())
    assert len(on_ranks) == 4
    for told in on_ranks:
        method = told["algorithm"]
        values = next(
            vars(one.method) for one in config.algorithm if one.label == method
        )
        trial = lab.run(method, values, config.run.seed, target=1e-30, budget=15)
        assert trial["status"] == "budget"
        assert trial["rounds"] == told["rounds"]
        assert trial["gradients"] * lab.n == pytest.approx(told["gradients"])
        assert trial["gradients_paper"] * lab.n == pytest.approx(
            told["gradients_paper"]
        )
        assert trial["relative"] == pytest.approx(
            told["relative_suboptimality"], rel=1e-6
        )
        assert trial["relative"] < 0.9
