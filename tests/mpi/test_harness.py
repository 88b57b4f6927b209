"""The fixtures that every test in this folder stands on."""

from __future__ import annotations

import numpy as np
import pytest
from mpi4py import MPI

from pmgt_mpi.environment import launched
from pmgt_mpi.mpi.collective import Collective
from tests.support.verdicts import AgentsError, Together


def test_world_has_the_size_that_was_asked_for(comm: MPI.Intracomm) -> None:
    assert comm.size == launched()[0]


def test_comm_is_not_the_world(comm: MPI.Intracomm) -> None:
    assert MPI.Comm.Compare(comm, MPI.COMM_WORLD) == MPI.CONGRUENT


def test_collective_sums_over_all_agents(collective: Collective) -> None:
    total = collective.sum(np.array([1.0, collective.agent]))
    m = collective.agents
    assert total.tolist() == [m, m * (m - 1) / 2]


def test_together_passes_when_all_pass(comm: MPI.Intracomm, together: Together) -> None:
    with together:
        assert comm.rank < comm.size
    comm.Barrier()


def test_together_names_the_agent_that_failed(
    comm: MPI.Intracomm, together: Together
) -> None:
    last = comm.size - 1
    with pytest.raises(AgentsError) as caught, together:
        assert comm.rank != last, "the last one"
    text = str(caught.value)
    assert text.startswith(f"agent {last}: test_harness.py:")
    assert "the last one" in text
    assert text.count("agent") == 1


def test_together_names_all_agents_and_the_kind_of_error(
    comm: MPI.Intracomm, together: Together
) -> None:
    with pytest.raises(AgentsError) as caught, together:
        raise ValueError(f"number {comm.rank}")
    lines = str(caught.value).splitlines()
    assert len(lines) == comm.size
    for agent, line in enumerate(lines):
        assert line.startswith(f"agent {agent}: test_harness.py:")
        assert line.endswith(f"number {agent} (ValueError)")


@pytest.mark.mpi(min_size=2)
def test_a_test_may_ask_for_two_agents(comm: MPI.Intracomm) -> None:
    other = (comm.rank + 1) % comm.size
    before = (comm.rank - 1) % comm.size
    assert comm.sendrecv(comm.rank, dest=other, source=before) == before
