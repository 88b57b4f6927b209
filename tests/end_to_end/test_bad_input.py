"""Wrong input: one clear message, exit code 2, no traceback, nobody left, soon."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from tests.launcher import ROOT, mpirun, run
from tests.support.running import SMALL, run_config

LIMIT = 5.0
"""Seconds for 4 ranks, or 2."""


def complaint(result) -> str:
    """Return the one message of a job that was refused."""
    result.expect(2)
    output = result.stdout + result.stderr
    assert "Traceback" not in output
    assert result.seconds < LIMIT
    lines = [line for line in output.splitlines() if "pmgt_mpi: error" in line]
    assert len(lines) == 1, output
    assert "prterun" not in output, "the launcher has nothing to add"
    return lines[0].removeprefix("pmgt_mpi: error: ")


@pytest.mark.parametrize(
    ("assignment", "expected"),
    [
        ("stop.step=3", "[stop] has no key 'step'; did you mean 'steps'?"),
        (
            "algorithm.0.stepsize=3",
            "[[algorithm]] number 0 (pmgt-katyushax) has no key 'stepsize'; "
            "did you mean 'step_size'?",
        ),
        ("stop.steps='ten'", "[stop] steps = 'ten': expected a valid integer"),
        (
            "algorithm.0.step_size=-1",
            "step_size = -1: expected greater than 0 or 'auto' or 'theory'",
        ),
        ("problem.kind=lda", "unknown problem 'lda'"),
        ("network.topology=rings", "unknown graph 'rings'; did you mean 'ring'?"),
        ("networks.topology=ring", "unknown section [networks]; did you mean"),
        ("network.topology=hypercube", None),
        ("algorithm.0.batch_size=1000", "batch_size = 1000 is more than the 300 rows"),
        ("data.rows=1", "1 rows"),
        ("problem.kind=my.module:Class", "add --allow-plugins"),
    ],
)
def test_a_wrong_key_value_or_name(tmp_path, assignment, expected):
    if expected is None:
        run_config(tmp_path, ranks=2, set=(assignment, "stop.steps=1")).expect(0)
        return
    assert expected in complaint(run_config(tmp_path, ranks=2, set=(assignment,)))


def test_the_last_algorithm_is_refused_before_the_first_runs(tmp_path):
    result = run_config(tmp_path, set=("algorithm.1.batch_size=1000",))
    assert "pmgt-svrg: batch_size = 1000 is more than" in complaint(result)
    assert not (tmp_path / "out").exists()


def test_a_config_that_is_missing_or_no_toml(tmp_path):
    arguments = ["-m", "pmgt_mpi.run", "--config", "nowhere.toml"]
    text = complaint(mpirun(4, arguments, cwd=tmp_path))
    assert text == "config file nowhere.toml does not exist"
    text = complaint(run_config(tmp_path, "[run\nname = 3"))
    assert "config.toml is not valid TOML" in text
    assert "line 1" in text


def test_a_missing_data_file_is_named_with_where_it_was_sought(tmp_path):
    sets = ("data.source=npy", "data.path=rows.npy")
    text = SMALL.replace("rows = 600\ncolumns = 8\n", "")
    message = complaint(run_config(tmp_path, text, set=sets))
    assert "rows.npy" in message
    assert str(tmp_path) in message


def test_a_disconnected_graph_names_its_parts(tmp_path):
    (tmp_path / "graph.edgelist").write_text("0 1\n2 3\n")
    text = SMALL.replace('topology = "ring"', 'file = "graph.edgelist"')
    message = complaint(run_config(tmp_path, text))
    assert "{0, 1}" in message
    assert "{2, 3}" in message


def test_a_graph_of_another_size_than_the_world(tmp_path):
    (tmp_path / "graph.edgelist").write_text("0 1\n1 2\n2 3\n3 4\n")
    text = SMALL.replace('topology = "ring"', 'file = "graph.edgelist"')
    message = complaint(run_config(tmp_path, text))
    assert "5" in message
    assert "4" in message


def test_a_matrix_that_is_no_gossip_matrix(tmp_path):
    W = np.full((4, 4), 0.25)
    W[0, 1] = 0.3
    np.save(tmp_path / "W.npy", W)
    text = SMALL.replace('topology = "ring"', 'weights_file = "W.npy"')
    message = complaint(run_config(tmp_path, text))
    assert "W.npy" in message
    assert "symmetric" in message


def test_nan_in_a_row_of_a_file_names_file_and_row(tmp_path):
    A = np.random.default_rng(0).normal(size=(600, 8))
    A[431, 2] = np.nan
    np.save(tmp_path / "rows.npy", A)
    text = SMALL.replace("rows = 600\ncolumns = 8\n", 'path = "rows.npy"\n')
    text = text.replace('source = "bernoulli"', 'source = "npy"')
    message = complaint(run_config(tmp_path, text))
    assert "rows.npy" in message
    assert "431" in message


def test_a_number_too_large_on_one_agent_alone_is_told_by_all_together(tmp_path):
    A = np.random.default_rng(0).normal(size=(600, 8))
    A[431, 2] = 1e200
    np.save(tmp_path / "rows.npy", A)
    text = SMALL.replace("rows = 600\ncolumns = 8\n", 'path = "rows.npy"\n')
    text = text.replace('source = "bernoulli"', 'source = "npy"')
    message = complaint(run_config(tmp_path, text))
    assert "[data] has a number of size 1e+200" in message


def test_a_run_folder_that_exists_already(tmp_path):
    (tmp_path / "out").mkdir()
    assert "out exists already" in complaint(run_config(tmp_path))


@pytest.mark.parametrize(
    "variable", ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"]
)
def test_a_world_of_one_where_the_launcher_started_more(tmp_path, variable):
    (tmp_path / "config.toml").write_text(SMALL)
    command = [sys.executable, "-m", "pmgt_mpi.run", "--config", "config.toml"]
    result = run(command, cwd=tmp_path, env={variable: "4", "PYTHONPATH": str(ROOT)})
    text = complaint(result)
    assert "the launcher started 4 ranks, but MPI sees a world of size 1" in text


def test_an_unknown_argument_is_told_once(tmp_path):
    result = mpirun(4, ["-m", "pmgt_mpi.run", "--confg", "x"], cwd=tmp_path).expect(2)
    assert result.stderr.count("usage:") == 1
    assert result.stderr.count("error:") == 1


def test_a_first_rank_that_starts_late_is_heard_all_the_same(tmp_path):
    (tmp_path / "sitecustomize.py").write_text(
        "import os, time\n"
        "if os.environ.get('OMPI_COMM_WORLD_RANK') == '0':\n"
        "    time.sleep(1)\n"
    )
    result = mpirun(
        4,
        ["-m", "pmgt_mpi.run", "--confg", "x"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path)},
    )
    assert "unrecognized arguments: --confg" in result.expect(2).stderr


def test_help_is_printed_once(tmp_path):
    result = mpirun(4, ["-m", "pmgt_mpi.run", "--help"], cwd=tmp_path).expect(0)
    assert result.stdout.count("mpirun -n 4 python -m pmgt_mpi.run --config") == 2
    assert "--set SECTION.KEY=VALUE" in result.stdout
