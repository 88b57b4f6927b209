"""All agents in one process: what they find together is what one process finds."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from mpi4py import MPI

from pmgt_mpi.data.loading import load_shard
from pmgt_mpi.data.sources.gaussian import Gaussian
from pmgt_mpi.errors import UserError
from pmgt_mpi.mpi.collective import AgreedError, Collective
from pmgt_mpi.mpi.together import TooMuchError, together

M = 7


def test_collectives_give_what_mpi_gives():
    rng = np.random.default_rng(0)
    parts = rng.normal(size=(M, 3, 2))

    def work(comm):
        collective = Collective(comm.Split(0, comm.rank).Dup())
        own = parts[collective.agent]
        with collective.agreed():
            total = own.copy()
        told = collective.from_first({"rank": comm.rank})
        told["mine"] = comm.rank  # of its own
        collective.barrier()
        return (
            collective.sum(own), collective.max(own), collective.min(own),
            collective.gather(comm.rank), told, total,
        )  # fmt: skip

    for agent, found in enumerate(together(M, work, 60)):
        total, top, bottom, ranks, told, own = found
        np.testing.assert_allclose(total, parts.sum(axis=0), rtol=1e-13)
        np.testing.assert_array_equal(top, parts.max(axis=0))
        np.testing.assert_array_equal(bottom, parts.min(axis=0))
        assert ranks == [*range(M)]
        assert told == {"rank": 0, "mine": agent}
        np.testing.assert_array_equal(own, parts[agent])
    assert threading.active_count() < M


def test_the_rest_of_the_communicator():
    def work(comm):
        right, left = (comm.rank + 1) % M, (comm.rank - 1) % M
        from_left, part = np.empty(2), np.empty(comm.rank, np.int64)
        comm.Sendrecv(np.full(2, comm.rank), right, recvbuf=from_left, source=left)
        whole = (np.arange(M * (M - 1) // 2), [*range(M)]) if comm.rank == 2 else None
        comm.Scatterv(whole, part, root=2)
        largest = np.empty(2)
        comm.Allreduce(np.array([comm.rank, -1.0]), largest, MPI.MAX)
        if comm.rank == 3:
            comm.Send(np.ones(1), 4, 9)
        if comm.rank == 4:
            comm.Recv(np.empty(1), 3, 9)
        gathered = np.empty((M, 1)) if comm.rank == 1 else None
        comm.Gather(np.array([comm.rank * 2.0]), gathered, root=1)
        letter = comm.scatter([*range(M)] if comm.rank == 0 else None)
        names = comm.gather(letter)
        comm.Free()
        return from_left[0], part.sum(), largest.tolist(), gathered, letter, names

    found = together(M, work, 60)
    assert [one[0] for one in found] == [6, 0, 1, 2, 3, 4, 5]
    assert sum(one[1] for one in found) == sum(range(M * (M - 1) // 2))
    assert all(one[2] == [M - 1, -1] for one in found)
    assert found[1][3].ravel().tolist() == [2.0 * k for k in range(M)]
    assert [one[4] for one in found] == [*range(M)]
    assert [one[5] for one in found] == [[*range(M)]] + [None] * (M - 1)


@pytest.mark.parametrize("partition", ["contiguous", "shuffled", "by-label"])
def test_shards_are_parts_of_what_one_agent_loads(partition):
    source = Gaussian(rows=100, columns=3, labels="sign")

    def load(comm):
        return load_shard(Collective(comm), source, partition=partition, seed=3)

    (whole,) = together(1, load, 60)
    shards = together(M, load, 60)
    assert [shard.rows for shard in shards] == [15, 15, 14, 14, 14, 14, 14]
    np.testing.assert_array_equal(np.concatenate([s.A for s in shards]), whole.A)


def test_what_ends_one_ends_all():
    def wrong(comm):
        collective = Collective(comm)
        with collective.agreed():
            if comm.rank == 3:
                raise UserError("only here")
        pytest.fail("all were told")

    with pytest.raises(AgreedError, match="only here"):
        together(M, wrong, 60)

    def broken(comm):
        if comm.rank == 3:
            raise ZeroDivisionError("a fault")
        comm.Barrier()

    with pytest.raises(ZeroDivisionError, match="a fault"):
        together(M, broken, 60)
    assert threading.active_count() < M


def test_no_more_time_and_memory_than_it_may_have(monkeypatch):
    def forever(comm):
        while True:
            comm.Barrier()

    with pytest.raises(TooMuchError, match=r"it would take longer than 0.2 s"):
        together(M, forever, 0.2)

    def stuck(comm):
        if comm.rank:
            comm.Barrier()

    with pytest.raises(TooMuchError, match="longer than"):
        together(M, stuck, 0.2)

    monkeypatch.setattr("pmgt_mpi.mpi.together.MOST_BYTES", 1000)
    with pytest.raises(TooMuchError, match="arrays of 160 bytes of each agent"):
        together(M, lambda comm: Collective(comm).sum(np.ones(20)), 60)
