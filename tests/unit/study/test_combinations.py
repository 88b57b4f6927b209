"""Which runs a study has, and what is refused before any of them."""

from __future__ import annotations

import pytest

from pmgt_mpi.errors import UserError
from pmgt_mpi.study.__main__ import parse
from pmgt_mpi.study.combinations import grid_of, jobs_of, keys_of
from tests.support.running import SMALL


@pytest.fixture
def jobs(tmp_path):
    path = tmp_path / "config.toml"
    path.write_text(SMALL)

    def jobs(*arguments):
        options = parse(["--config", str(path), *arguments])
        return jobs_of(options, grid_of(options.grid), keys_of(options.over))

    return jobs


def test_every_algorithm_has_a_run_of_every_draw(jobs):
    found = jobs("--seeds", "3")
    seeds = [(job.config.run.seed, job.config.algorithm[0].label) for job in found]
    labels = ("pmgt-katyushax", "pmgt-svrg", "pg-extra", "nids")
    assert seeds == [(seed, label) for seed in (1, 2, 3) for label in labels]
    assert len({job.key for job in found}) == 12


def test_keys_of_a_study_with_fewer_seeds_are_among_those_of_more(jobs):
    few, more = (
        {job.key for job in jobs("--seeds", n, "--grid", "mixing.rounds=2,4")}
        for n in ("2", "3")
    )
    assert few < more


def test_draws_are_over_the_keys_that_are_named(jobs):
    found = jobs("--seeds", "2", "--over", "data.seed,network.seed")
    seeds = [(j.config.run.seed, j.config.data.seed, j.config.network.seed)
             for j in found[::4]]  # fmt: skip
    assert seeds == [(3, 1, 1), (3, 2, 2)]


def test_streams_change_neither_rows_nor_network(jobs):
    found = jobs("--seeds", "2", "--over", "network.seed", "--streams", "2")
    seeds = {(j.config.run.seed, j.config.data.seed, j.config.network.seed)
             for j in found}  # fmt: skip
    assert seeds == {(1, 3, 1), (2, 3, 1), (1, 3, 2), (2, 3, 2)}


def test_the_values_of_one_algorithm_make_no_runs_of_another(jobs):
    found = jobs(
        "--seeds", "1", "--grid", "algorithm.3.step_size=0.1,0.2",
        "--grid", "network.topology=ring,star",
    )  # fmt: skip
    cells = [(job.tags["algorithm"], job.tags["cell"]) for job in found]
    nids = [cell for label, cell in cells if label == "nids"]
    assert (
        nids
        == [
            {"algorithm.3.step_size": step, "network.topology": graph}
            for step in (0.1, 0.2)
            for graph in ("ring", "star")
        ]
        or len(nids) == 4
    )
    assert len(cells) == 4 + 3 * 2
    steps = {j.config.algorithm[0].method.step_size for j in found
             if j.tags["algorithm"] == "nids"}  # fmt: skip
    assert steps == {0.1, 0.2}


def test_runs_with_the_same_rows_stand_beside_each_other(jobs):
    found = jobs("--seeds", "3", "--over", "network.seed", "--grid", "data.seed=1,2")
    rows = [job.config.data.seed for job in found]
    assert rows == [1] * 12 + [2] * 12


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--grid", "mixing.rounds"], "--grid mixing.rounds: expected section.key="),
        (["--grid", "mixing.rounds="], "there is no value"),
        (["--grid", "mixing.rounds=2,2"], "a value is there twice"),
        (["--grid", "mixing.rounds=2", "--grid", "mixing.rounds=3"], "is there twice"),
        (["--grid", "mixing.rounds=0"], r"\[mixing\] rounds = 0: expected"),
        (["--grid", "mixing.sounds=1"], "has no key 'sounds'"),
        (["--over", "data.rows"], "--over data.rows: expected keys of seeds"),
        (["--over", ""], "expected keys of seeds"),
        (["--over", "data.seed,data.seed"], "each once"),
        (["--streams", "2"], "--streams gives run.seed to the runs"),
    ],
)
def test_what_makes_no_study_is_told_in_a_sentence(jobs, arguments, sentence):
    with pytest.raises(UserError, match=sentence) as refused:
        jobs("--seeds", "1", *arguments)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("option", ["--seeds", "--streams"])
def test_a_study_has_at_least_one_draw(option, capsys):
    with pytest.raises(SystemExit) as ended:
        parse(["--config", "x.toml", "--seeds", "1", option, "0"])
    assert ended.value.code == 2
    assert f"{option} 0: expected a number from 1 on" in capsys.readouterr().err
