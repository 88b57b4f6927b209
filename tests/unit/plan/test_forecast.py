"""What a forecast says without a cluster: counts, bytes, wires, and what is guessed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from mpi4py import MPI

from pmgt_mpi.algorithms.traits import step_cost
from pmgt_mpi.errors import UserError
from pmgt_mpi.execution.engine import PYTHON
from pmgt_mpi.execution.network import network_of
from pmgt_mpi.plan.forecast import (
    Cluster,
    estimated,
    forecast,
    resolved,
    with_round_cost,
)
from pmgt_mpi.plan.sample import take_sample
from tests.unit.config.configs import config_of

RANKS, ROWS, COLUMNS = 6, 60, 4
METHODS = [
    {"name": "pmgt-svrg", "step_size": 0.1, "mix_rounds": 3, "batch_size": 5},
    {"name": "nids"},
]


@pytest.fixture(scope="module")
def config():
    rows = {"source": "gaussian", "labels": "linear"}
    return config_of(algorithm=METHODS, data=rows, run={"engine": "python"})


@pytest.fixture(scope="module")
def sample(config):
    return take_sample(config, RANKS, PYTHON, MPI.COMM_SELF, seconds=60.0)


def of(config, sample, number, ranks=RANKS, **more):
    network = network_of(config, ranks)
    return forecast(config, number, sample, network, Cluster(ranks), steps=3, **more)


def test_a_round_takes_its_latency_and_its_bytes():
    cluster = Cluster(8, latency=2e-6, bandwidth=1e9)
    assert cluster.wire(2, 500) == pytest.approx(2e-6 + 1e-6)
    assert cluster.wire(0, 500) == 0.0, "an agent by itself sends nothing"
    assert Cluster(8).wire(2, 500) == 0.0, "links as here are in the rehearsal"


def test_all_agents_are_set_up_where_that_is_not_too_much(config, sample):
    assert sample.why is None
    assert sample.n == ROWS // RANKS
    assert sample.setup.rows == [ROWS // RANKS] * RANKS
    assert estimated(config, 1, sample) == []


def test_the_counts_are_those_that_the_method_tells_of_itself(config, sample):
    told = of(config, sample, 0)
    method = resolved(config, config.algorithm[0], sample, network_of(config, RANKS))
    cost = step_cost(method, ROWS // RANKS)
    step = told["step"]
    assert step["gradients"] == cost.gradients
    assert step["rounds"] == cost.rounds
    assert step["messages"] == 2 * RANKS * cost.rounds, "a ring has as many edges"
    assert step["bytes"] == step["messages"] * COLUMNS * 8
    assert step["seconds"] == step["compute_seconds"] + step["comm_seconds"]


def test_the_step_in_which_a_number_was_drawn(config, sample):
    n, b, M, T = ROWS // RANKS, 5, 3, 7
    step = of(config, sample, 0, T=T)["step"]
    assert step["gradients"] == n + 2 * b * (T + 1)
    assert step["rounds"] == (2 * (T + 1) + 2) * M


def test_the_first_steps_are_rehearsed(config, sample):
    first = of(config, sample, 1)["first_steps"]
    # The first step of NIDS needs none; after it the guard asks all, by one number.
    asked = RANKS // 2
    assert first["rounds"] == [0, asked, asked + 1, asked + 2]
    assert first["messages"] == [2 * RANKS * rounds for rounds in first["rounds"]]
    numbers = [0, asked, asked + COLUMNS, asked + 2 * COLUMNS]
    assert first["bytes"] == [8 * 2 * RANKS * sent for sent in numbers]


def test_a_cluster_of_one_sends_nothing(config):
    sample = take_sample(config, 1, PYTHON, MPI.COMM_SELF, seconds=60.0)
    step = of(config, sample, 1, ranks=1)["step"]
    assert (step["rounds"], step["messages"], step["bytes"]) == (0, 0, 0)
    assert step["comm_seconds"] >= 0
    assert step["gradients"] == ROWS


def test_what_is_guessed_where_not_all_agents_are_set_up_is_named(config):
    sample = take_sample(config, RANKS, PYTHON, MPI.COMM_SELF, seconds=0.0)
    assert sample.why == "no seconds are given to the others"
    assert estimated(config, 1, sample) == ["step_size"]
    assert estimated(config, 0, sample) == [], "all of them are numbers"
    section = replace(config.algorithm[0], method=replace(
        config.algorithm[0].method, batch_size="sqrt", mix_rounds="section"
    ))  # fmt: skip
    words = replace(config, algorithm=(section,))
    assert estimated(words, 0, sample) == ["mix_rounds"], "[data] has the rows"


def test_more_ranks_than_rows_are_refused(config):
    with pytest.raises(UserError) as refused:
        take_sample(config, ROWS + 1, PYTHON, MPI.COMM_SELF, seconds=1.0)
    assert str(refused.value) == (
        "--ranks 61: [data] has 60 rows, fewer than one an agent"
    )


def test_parameters_that_depend_on_what_a_round_costs(config, sample):
    asked = config_of(
        algorithm=[{"name": "pmgt-katyushax"}, {"name": "nids"}],
        data={"source": "gaussian", "labels": "linear"},
        run={"engine": "python"},
    )
    network, alone = network_of(asked, RANKS), network_of(asked, 1)
    far = Cluster(RANKS, latency=1.0, bandwidth=1e9)
    measured, marked = with_round_cost(asked, sample, network, far)
    assert 1e3 < measured.cost.round_in_gradients < 1e9, "so many fit into a second"
    assert "batch_size" in estimated(asked, 0, marked)
    assert estimated(asked, 1, marked) == [], "NIDS does not ask"
    assert with_round_cost(measured, sample, network, far) == (measured, sample)
    free, exact = with_round_cost(asked, sample, alone, far)
    assert (free.cost.round_in_gradients, exact) == (1.0, sample)
    assert with_round_cost(config, sample, network, far) == (config, sample), "nobody"
