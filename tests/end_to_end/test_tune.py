"""A tuning on real ranks: resumed with the same results, and best.toml runs."""

from __future__ import annotations

import csv
import json
import tomllib

import pytest

from tests.launcher import mpirun
from tests.support.running import SMALL, Left, run_config

CONFIG = SMALL.partition("[[algorithm]]")[0].replace(
    "steps = 8", "steps = 500\nrelative_suboptimality = 1e-4"
)

TWO = CONFIG + '[[algorithm]]\nname = "pmgt-svrg"\n\n[[algorithm]]\nname = "nids"\n'

MORE = ("--trials", "4", "--streams", "2")


def tune(folder, *arguments, ranks=2, out="out"):
    args = ["-m", "pmgt_mpi.tune", "--config", "config.toml", "--out", out]
    env = {"PMGT_CACHE": str(folder / "cache")}
    return mpirun(ranks, [*args, *arguments], cwd=folder, env=env)


def results(path):
    """All results by key, without their times."""
    found = {}
    for line in (path / "runs.jsonl").read_text().splitlines():
        record = json.loads(line)
        if "end" in record:
            result = record["result"]
            for part in (result["first"], result["end"]):
                for name in ("seconds", "compute_seconds", "comm_seconds"):
                    del part[name]
            found[record["end"]] = result
    return found


def rows(path):
    with (path / "trials.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def tuned(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tuning")
    (folder / "config.toml").write_text(TWO)
    done = tune(folder, *MORE)
    done.expect(0)
    return folder, done


def test_every_algorithm_has_as_many_trials(tuned):
    folder, done = tuned
    assert "4 trials of each algorithm, 2 runs each, largest budget" in done.stdout
    found = rows(folder / "out")
    for label in ("pmgt-svrg", "nids"):
        own = [row for row in found if row["algorithm"] == label]
        assert [int(row["trial"]) for row in own] == [0, 1, 2, 3, 4]
        assert [row["best"] for row in own].count("1") == 1
        costs = [float(row["cost"]) for row in own if row["cost"]]
        best = next(row for row in own if row["best"] == "1")
        full = max(float(row["budget"]) for row in own)
        assert float(best["budget"]) == full
        assert float(best["cost"]) <= float(own[0]["cost"])
        assert min(costs) > 0
    assert (folder / "out" / "tuning.png").read_bytes()[:4] == b"\x89PNG"


def test_the_best_values_are_a_config_that_costs_what_was_found(tuned):
    folder, _ = tuned
    text = (folder / "out" / "best.toml").read_text()
    best = {row["algorithm"]: row for row in rows(folder / "out") if row["best"] == "1"}
    for section in tomllib.loads(text)["algorithm"]:
        row = best[section["label"]]
        assert section["step_size"] == float(row["step_size"])
    run_config(
        folder, text, ranks=2, out="run",
        set=("run.seed=101", "data.seed=3", "network.seed=3"),
    ).expect(0)  # fmt: skip
    (folder / "config.toml").write_text(TWO)
    found = results(folder / "out")
    for summary in Left(folder / "run").summary:
        label = summary["algorithm"]
        trial = best[label]["trial"]
        keys = [k for k in found if k.startswith(f"{label}, trial {trial}, ")]
        last = next(k for k in reversed(keys) if k.endswith("stream 101"))
        for name in ("gradients", "rounds", "objective", "step"):
            assert found[last]["end"][name] == summary[name]


def test_a_tuning_that_was_killed_does_what_is_missing(tuned):
    folder, _ = tuned
    whole = results(folder / "out")
    cut = folder / "cut"
    cut.mkdir()
    for name in ("tuning.json", "runs.jsonl"):
        (cut / name).write_bytes((folder / "out" / name).read_bytes())
    lines = (cut / "runs.jsonl").read_text().splitlines(keepends=True)
    half = len(lines) // 2 | 1  # a run that has begun is the last
    (cut / "runs.jsonl").write_text("".join(lines[:half]) + lines[half][:20])
    tune(folder, *MORE, out="cut").expect(0)
    assert results(cut) == whole
    assert (cut / "best.toml").read_text() == (folder / "out/best.toml").read_text()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--cost", "gradient"), "unknown name 'gradient'; did you mean 'gradients'?"),
        (("--range", "nids.step_size=2,1"), "is empty: expected 0 < LOW < HIGH"),
        (("--budget", "5"), "--budget 5 is too small for one trial: pmgt-svrg needs"),
        (("--set", "stop.relative_suboptimality=0"), "relative_suboptimality = 0"),
        (("--set", "algorithm.0.batch_size=5000"), "batch_size = 5000 is more than"),
        (("--trials", "0"), "--trials 0: expected 1 or more"),
        (("--seeds", "3"), "unrecognized arguments: --seeds 3"),
    ],
)
def test_what_cannot_be_tuned_is_told_in_a_sentence(tmp_path, arguments, sentence):
    (tmp_path / "config.toml").write_text(TWO)
    done = tune(tmp_path, *arguments, ranks=1)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
    begun = "--budget" in arguments  # what a trial needs is seen when one has begun
    assert (tmp_path / "out").exists() == begun


def test_a_config_without_a_goal_cannot_be_tuned(tmp_path):
    (tmp_path / "config.toml").write_text(SMALL)
    done = tune(tmp_path, ranks=1)
    assert done.returncode == 2
    assert "[stop] has no goal, so no trial can be said to cost less" in done.stderr
    assert not (tmp_path / "out").exists()
