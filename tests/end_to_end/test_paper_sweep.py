"""``python scripts/paper sweep``, tiny: whole, cut off, and resumed."""

from __future__ import annotations

import csv
import sys
import tomllib
from pathlib import Path

from tests import launcher
from tests.launcher import ROOT

DECLARED = """
agents = 4
topology = "two-neighbours"
graph_seed = 1
methods = ["pmgt-katyushax", "pmgt-svrg", "pg-extra", "nids"]
weight = 10.0
seeds = [101, 102, 103]
finalists = 2
moves = 1
[data.small]
source = "bernoulli"
rows = 160
columns = 4
seed = 8
[problem.small]
data = "small"
ratio = 2.0
target = 1e-1
cap = 20.0
full_cap = 20.0
every = 1
start.pmgt-katyushax = [0, 2, 2, 1]
start.pmgt-svrg = [0, 2, 2]
start.pg-extra = [-5]
start.nids = [120]
"""


def sweep(folder: Path) -> tuple[list[dict[str, str]], list[str], str]:
    """Run it; give the table, the lines of the trials, and the config."""
    command = [sys.executable, str(ROOT / "scripts" / "paper"), "sweep"]
    for option in ("declared", "table", "configs", "trials"):
        command += [f"--{option}", str(folder / option)]
    result = launcher.run(command, timeout=60).expect(0)
    with (folder / "table").open() as file:
        rows = list(csv.DictReader(file))
    trials = (folder / "trials").read_text().splitlines()
    ran = [line for line in result.stdout.splitlines() if "budget=" in line]
    assert len(ran) <= len(trials)
    return rows, ran, (folder / "configs" / "small.toml").read_text()


def test_a_killed_sweep_continues_and_gives_the_same_table(tmp_path):
    (tmp_path / "declared").write_text(DECLARED)
    rows, ran, config = sweep(tmp_path)
    assert all(int(row["trials"]) >= 36 for row in rows)
    by_method = {row["method"]: row for row in rows}
    assert by_method["pmgt-katyushax"]["status"] == "converged"
    # Steps far above 2 / L: a method that diverges at all of them says so.
    assert by_method["nids"]["status"] == "diverges"
    algorithms = tomllib.loads(config)["algorithm"]
    assert [one["name"] for one in algorithms] == [row["method"] for row in rows]
    for one, row in zip(algorithms, rows, strict=True):
        assert one["step_size"] == float(row["step_size"])
        assert str(one.get("mix_rounds", "")) == row["mix_rounds"]

    assert sweep(tmp_path) == (rows, [], config)  # nothing is run again

    trials = tmp_path / "trials"
    whole = trials.read_text().splitlines(keepends=True)
    trials.write_text("".join(whole[:100]) + whole[100][:30])  # killed in a line
    again = sweep(tmp_path)
    assert (again[0], again[2]) == (rows, config)
    assert len(again[1]) == len(ran) - 100
