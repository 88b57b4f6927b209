"""A config of principal components, on real ranks."""

from __future__ import annotations

import json

import pytest

from tests.launcher import mpirun

CONFIG = """
[data]
source = "gaussian"
rows = 203
columns = 12
condition = 100
heterogeneity = 0.5

[problem]
kind = "pca"
components = 3

[stop]
steps = 400
relative_suboptimality = 1e-14

[checkpoint]
steps = 1

[[algorithm]]
name = "covariance"

[[algorithm]]
name = "deepca"

[[algorithm]]
name = "lanczos"
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("pca")
    (place / "pca.toml").write_text(CONFIG)
    command = ["-m", "pmgt_mpi.run", "--config", place / "pca.toml"]
    mpirun(5, [*command, "--out", place / "out"], timeout=60).expect(0)
    return place


def test_every_method_finds_the_subspace(folder):
    summary = json.loads((folder / "out" / "summary.json").read_text())
    assert [one["name"] for one in summary] == ["covariance", "deepca", "lanczos"]
    for one in summary:
        assert one["status"] == "converged"
        assert one["subspace_angle"] < 1e-6
        assert one["captured_variance"] == pytest.approx(
            summary[0]["captured_variance"], rel=1e-12
        )
        assert 0 < one["captured_variance"] < 1


def test_it_goes_on_from_a_checkpoint_with_the_same_bits(folder):
    whole = (folder / "out" / "metrics.jsonl").read_text().splitlines()[-1]
    command = ["-m", "pmgt_mpi.run", "--config", folder / "pca.toml"]
    short = [*command, "--set", "algorithm.2.steps=3", "--out", folder / "short"]
    mpirun(5, short, timeout=60).expect(0)
    command = ["-m", "pmgt_mpi.run", "--resume", folder / "short"]
    mpirun(5, [*command, "--set", "algorithm.2.steps=400"], timeout=60).expect(0)
    again = (folder / "short" / "metrics.jsonl").read_text().splitlines()[-1]
    first, second = json.loads(whole), json.loads(again)
    for key in ("step", "rounds", "messages", "bytes", "gradients", "objective"):
        assert first[key] == second[key]


def test_a_method_for_another_question_is_refused(folder):
    command = ["-m", "pmgt_mpi.run", "--config", folder / "pca.toml"]
    out = ["--out", folder / "refused"]
    wrong = mpirun(2, [*command, "--set", "algorithm.0.name=nids", *out], timeout=60)
    wrong.expect(2)
    assert (
        "nids looks for a minimiser, and the problem asks for eigenvectors; take one "
        "of covariance, deepca, lanczos"
    ) in wrong.stderr
    one = mpirun(2, [*command, "--set", "algorithm.0.name=shift-invert", *out])
    one.expect(2)
    assert "shift-invert finds one component, and 3 are asked for" in one.stderr
    other = mpirun(2, [*command, "--set", "problem.kind=ridge",
        "--set", "problem.components=1", *out], timeout=60)  # fmt: skip
    other.expect(2)
    assert not (folder / "refused").exists()
