"""scripts/reproduce.sh in a tiny form: few rows and ranks, with and without Covtype."""

from __future__ import annotations

import json
import lzma
import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tomli_w

from tests import launcher
from tests.launcher import ROOT

CONFIGS = ROOT / "configs" / "paper"
SYNTHETIC = ["synthetic-r2", "synthetic-r300"]
COVTYPE = ["covtype-r2", "covtype-r300", "covtype-shuffled-r2", "covtype-shuffled-r300"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tiny configs of the same names, and a tiny covtype.data.xz."""
    folder = tmp_path_factory.mktemp("reproduce")
    (folder / "configs").mkdir()
    (folder / "data").mkdir()
    for name in [*SYNTHETIC, *COVTYPE]:
        config = tomllib.loads((CONFIGS / f"{name}.toml").read_text())
        tiny(config)
        (folder / "configs" / f"{name}.toml").write_text(tomli_w.dumps(config))
    table = np.random.default_rng(1).integers(0, 5, (300, 55))
    lines = "".join(",".join(map(str, row)) + "\n" for row in table)
    with lzma.open(folder / "data" / "covtype.data.xz", "wt") as file:
        file.write(lines)
    return folder


def tiny(config: dict[str, Any]) -> None:
    """Make a config that ends in a second; what is solved stays the same in kind."""
    if config["data"]["source"] == "bernoulli":
        config["data"].update(rows=300, columns=6)
    config["stop"].update(steps=30, relative_suboptimality=1e-3)
    for algorithm in config["algorithm"]:
        for key in ("step_size", "momentum", "mix_rounds"):
            algorithm.pop(key, None)
        algorithm["steps"] = 30
        if "batch_size" in algorithm:
            algorithm["batch_size"] = 20


def reproduce(folder: Path, data: str | None, *options: str) -> launcher.Result:
    launcher.started_by.add(launcher.current_test())
    script = ["bash", str(ROOT / "scripts" / "reproduce.sh"), "--ranks", "3"]
    places = ["--configs", str(folder / "configs"), "--out", str(folder / "out")]
    return launcher.run(
        [*script, *places, *options], env={"PMGT_DATA": data}, cwd="/", timeout=120
    )


def test_without_covtype_the_synthetic_half_runs_and_says_what_is_missing(folder):
    result = reproduce(folder, None).expect(0)
    assert "no covtype.data.xz in PMGT_DATA, which is not set" in result.stdout
    assert "python -m pmgt_mpi.data fetch covtype" in result.stdout
    out = folder / "out"
    assert sorted(p.name for p in out.glob("*-r*")) == SYNTHETIC
    page = (out / "reproduction.md").read_text()
    assert "Not run here: Covtype in the order of the file, Covtype, shuffled." in page
    assert page.count("| Synthetic ±1 data | 2 | fewest gradients |") == 1
    for sheet in ("paper", "machine"):
        picture = out / "reproduction" / f"synthetic-{sheet}.png"
        assert picture.read_bytes().startswith(b"\x89PNG")
        assert f"reproduction/{picture.name}" in page
    assert not list((out / "reproduction").glob("covtype*"))


def test_started_again_with_covtype_it_runs_what_is_missing(folder):
    out = folder / "out"
    before = (out / "synthetic-r2" / "seed-1" / "metrics.jsonl").read_bytes()
    result = reproduce(folder, str(folder / "data"), "--weight", "7").expect(0)
    for name in SYNTHETIC:
        assert f"{name}, seed 1: done already" in result.stdout
    for name in COVTYPE:
        assert (out / name / "seed-1" / "summary.json").exists()
    assert (out / "synthetic-r2" / "seed-1" / "metrics.jsonl").read_bytes() == before
    page = (out / "reproduction.md").read_text()
    assert "Not run here" not in page
    assert len(list((out / "reproduction").glob("*.png"))) == 6
    check_ratio(page, out, weight=7)


def check_ratio(page: str, out: Path, weight: float) -> None:
    """The page's weighted ratio over NIDS is what metrics.jsonl gives."""
    spent = {}
    for line in (out / "synthetic-r2/seed-1/metrics.jsonl").read_text().splitlines():
        record = json.loads(line)
        name = record["algorithm"]
        if name not in spent or spent[name][1] > 1e-3:
            cost = record["gradients_paper"] + weight * record["rounds"]
            spent[name] = cost, record["relative_suboptimality"]
    ratio = spent["pmgt-katyushax"][0] / spent["nids"][0]
    row = re.search(
        r"\| Synthetic ±1 data \| 2 \| least weighted cost \|[^|]*<br>NIDS: (.*?)<br>",
        page,
    )
    assert row is not None
    assert row[1].lstrip("<>? ") == f"{ratio:.2g}"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--seeds", "0"], "'0': expected a whole number, 1 or more"),
        (["--weight", "-1"], "--weight -1: expected a number"),
        (["--nonsense"], "unknown option '--nonsense'"),
        (["--seeds"], "--seeds needs a value"),
    ],
)
def test_wrong_options_are_refused(folder, options, message):
    result = reproduce(folder, None, *options)
    assert result.returncode == 2
    assert result.stderr.splitlines()[0] == f"reproduce.sh: {message}"
