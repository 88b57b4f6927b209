"""The seeds of data and network: the run's, unless they have one of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from mpi4py import MPI

from pmgt_mpi.execution.network import network_of
from pmgt_mpi.execution.setup import shard_of
from pmgt_mpi.mpi.collective import Collective
from tests.unit.config.configs import config_of

SHUFFLED = {"source": "gaussian", "partition": "shuffled"}


def rows_of(run: int, data: dict[str, Any]) -> Any:
    config = config_of(run={"seed": run}, data=data)
    return shard_of(config, Collective(MPI.COMM_SELF)).A


@pytest.mark.parametrize("source", [{}, SHUFFLED])
def test_a_seed_of_the_data_keeps_the_rows_while_that_of_the_run_changes(source):
    kept = [rows_of(run, {**source, "seed": 8}) for run in (1, 2)]
    assert np.array_equal(*kept)
    assert np.array_equal(kept[0], rows_of(8, source))
    assert not np.array_equal(rows_of(1, source), rows_of(2, source))


def neighbours_of(run: int, **network: Any) -> Any:
    config = config_of(
        run={"seed": run},
        data={"seed": 8},
        network={"topology": "two-neighbours", **network},
    )
    return network_of(config, agents=20).neighbourhood(0).neighbours


def test_a_seed_of_the_network_keeps_the_graph_while_that_of_the_run_changes():
    assert neighbours_of(1) != neighbours_of(2)
    assert neighbours_of(1, seed=7) == neighbours_of(2, seed=7) == neighbours_of(7)
