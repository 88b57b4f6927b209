"""Models from the shell: fit on ranks, load, predict; and the example."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys

import numpy as np
import pytest
from sklearn import decomposition

import pmgt_mpi
from pmgt_mpi.errors import UserError
from tests.launcher import ROOT, mpirun
from tests.support.documents import block


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Rows of four agents, and the commands of the document, done."""
    place = tmp_path_factory.mktemp("fit")
    rng = np.random.default_rng(0)
    for agent in range(4):
        rows = rng.normal(size=(30 + agent, 8)) * 0.7 ** np.arange(8) + agent
        np.save(place / f"part-{agent}.npy", rows)
    np.save(place / "new.npy", rng.normal(size=(6, 8)))
    fit, predict = block("docs/pca.md", "commands: fit").strip().splitlines()
    _, _, ranks, _, *arguments = shlex.split(fit)
    told = mpirun(int(ranks), arguments, cwd=place).expect(0)
    assert "5 components of 126 rows capture" in told.stdout
    command = [sys.executable, *shlex.split(predict)[1:]]
    subprocess.run(command, cwd=place, check=True, timeout=60)
    return place


def test_the_model_is_that_of_all_rows(folder):
    rows = np.concatenate([np.load(folder / f"part-{i}.npy") for i in range(4)])
    theirs = decomposition.PCA(5, svd_solver="full").fit(rows)
    model = pmgt_mpi.load(folder / "model")
    new = np.load(folder / "new.npy")
    np.testing.assert_allclose(model.components_, theirs.components_, atol=1e-9)
    np.testing.assert_allclose(model.transform(new), theirs.transform(new), atol=1e-9)
    np.testing.assert_array_equal(np.load(folder / "scores.npy"), model.transform(new))
    assert (model.n_components, model.n_samples_, model.solver_) == (
        5, 126, "covariance",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--out", "model"], "--out model exists; name a new folder"),
        (["--data", "part-1{agent}.npy"], "cannot read part-10.npy"),
        (["--components", "9"], "n_components = 9: there are 8 at most"),
        (["--components", "many"], "'many': expected a number such as 5"),
    ],
)
def test_wrong_input_is_told_once_and_nothing_is_written(folder, options, told):
    command = ["-m", "pmgt_mpi.fit", "pca", "--data", "part-{agent}.npy"]
    before = sorted(folder.rglob("*"))
    result = mpirun(2, [*command, "--out", "other", *options], cwd=folder).expect(2)
    assert result.stderr.count(told) == 1
    assert sorted(folder.rglob("*")) == before


def test_a_broken_model_folder_is_told(folder, tmp_path):
    shutil.copytree(folder / "model", tmp_path / "model")
    (tmp_path / "model" / "model.npz").write_bytes(b"nothing")
    with pytest.raises(UserError, match="is no whole model folder"):
        pmgt_mpi.load(tmp_path / "model")
    with pytest.raises(UserError, match=r"model\.json is missing"):
        pmgt_mpi.load(tmp_path)


def test_the_example_runs(tmp_path):
    example = ROOT / "docs" / "examples" / "digits.py"
    assert len(example.read_text().splitlines()) < 40
    result = mpirun(4, [example], cwd=tmp_path).expect(0)
    assert sorted(line.split(":")[0] for line in result.stdout.splitlines()) == [
        f"owner {i}" for i in range(4)
    ]
    assert (tmp_path / "digits.png").stat().st_size > 1000
