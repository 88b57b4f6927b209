"""The configs, programs and commands that the documents show run, as they say."""

from __future__ import annotations

import csv
import json
import re
import shlex
from itertools import chain

import pytest

from tests.launcher import ROOT, mpirun
from tests.support.documents import block, quoted, table

PROGRAMS = [
    ("README.md", "solve"),
    ("docs/pca.md", "pca"),
    ("docs/python.md", "solve"),
    ("docs/extending.md", "own problem"),
    ("docs/extending.md", "own graph"),
]


@pytest.mark.parametrize(("document", "name"), PROGRAMS)
def test_the_programs_run(document, name, tmp_path):
    (tmp_path / "program.py").write_text(block(document, f"program: {name}"))
    result = mpirun(4, ["program.py"], cwd=tmp_path).expect(0)
    if name == "solve":
        assert result.stdout.startswith("converged ")


def test_the_smallest_config_runs(tmp_path):
    (tmp_path / "my.toml").write_text(block("README.md", "config: smallest"))
    arguments = ["-m", "pmgt_mpi.run", "--config", "my.toml", "--out", "out"]
    result = mpirun(4, [*arguments, "--set", "stop.steps=20"], cwd=tmp_path).expect(0)
    assert "pmgt-katyushax" in result.stdout


def told(name: str) -> set[str]:
    """Keys or columns that docs/run-folder.md tells of one file."""
    rows = table("docs/run-folder.md", f"columns: {name}")
    return set(chain.from_iterable(quoted(row[0]) for row in rows))


def test_the_config_runs_and_leaves_the_files_and_columns_that_are_told(tmp_path):
    (tmp_path / "config.toml").write_text(block("docs/configuration.md", "config"))
    arguments = ["-m", "pmgt_mpi.run", "--config", "config.toml", "--out", "out"]
    arguments += ["--set", "stop.steps=3", "--set", "evaluate.theory_bound=true"]
    arguments += ["--set", "stop.gradient_mapping=1e-8"]
    mpirun(4, arguments, cwd=tmp_path).expect(0)
    out = tmp_path / "out"
    page = (ROOT / "docs" / "run-folder.md").read_text()
    files = set(re.findall(r"^\| `([\w.]+)/?` \|", page.partition("\n## ")[0], re.M))
    assert files == {path.name for path in out.iterdir()}
    record = json.loads((out / "metrics.jsonl").read_text().splitlines()[0])
    of_pca = {"captured_variance", "subspace_angle"}
    assert set(record) | of_pca == told("metrics.jsonl")
    summary = json.loads((out / "summary.json").read_text())[0]
    assert set(summary) - set(record) == told("summary.json") - {"advice"}
    for name in ("ranks.csv", "edges.csv"):
        with (out / name).open() as file:
            assert set(next(csv.reader(file))) == told(name)


def test_an_algorithm_and_a_reader_of_ones_own_run(tmp_path):
    page = "docs/extending.md"
    for name in ("mine.py", "mine.toml", "waves.py"):
        (tmp_path / name).write_text(block(page, f"file: {name}"))
    mpirun_, n, ranks, python, *arguments = shlex.split(block(page, "command: mine"))
    assert (mpirun_, n, python) == ("mpirun", "-n", "python")
    result = mpirun(int(ranks), [*arguments, "--out", "out"], cwd=tmp_path).expect(0)
    assert "mine:DGD" in result.stdout
    dgd, nids = json.loads((tmp_path / "out" / "summary.json").read_text())
    # It comes near the minimiser, but not to it, and NIDS does.
    assert 1e-6 < dgd["relative_suboptimality"] < 1e-1
    assert nids["relative_suboptimality"] < 1e-12
