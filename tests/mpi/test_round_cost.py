"""What a round costs in component gradients: measured once, for those who ask."""

from __future__ import annotations

import time
from math import log2

import numpy as np
import pytest

import pmgt_mpi
from pmgt_mpi.gossip import EXCHANGES, MIXINGS
from pmgt_mpi.gossip.gossip import Gossip
from pmgt_mpi.graphs.build import build_network
from pmgt_mpi.parameters import cost, resolve
from pmgt_mpi.parameters.cost import ALONE, measured_cost
from tests.support.small_world import D, shards

ROWS = 64
ROUND, GRADIENT = 4e-3, 2e-4
"""Seconds, far above those of a real round and of the clock."""


class Slow:
    """An f_i whose component gradient takes so many seconds."""

    shape, rows = (D,), ROWS

    def __init__(self, seconds):
        self.seconds = seconds

    def minibatch_grad(self, x, rows):
        time.sleep(self.seconds * len(rows))
        return x


class SlowGossip(Gossip):
    def mix(self, x, rounds):
        time.sleep(ROUND * rounds)
        return super().mix(x, rounds)


@pytest.mark.mpi(min_size=2)
@pytest.mark.parametrize("slowest", [1, 8])
def test_a_round_is_held_against_the_gradients_of_the_slowest(
    comm, collective, together, slowest
):
    network = build_network(comm.size, np.random.default_rng(2), topology="ring")
    gossip = SlowGossip(
        comm,
        network.neighbourhood(comm.rank),
        MIXINGS.load("chebyshev"),
        EXCHANGES.load("persistent"),
    )
    mine = GRADIENT * (slowest if comm.rank == 0 else 1)
    c = measured_cost(gossip, Slow(mine), np.ones(D), collective)
    far = measured_cost(gossip, Slow(mine), np.ones(D), collective, wire=31 * ROUND)
    everywhere = collective.gather((c, far))
    gossip.close()
    with together:
        assert everywhere == [(c, far)] * comm.size
        assert log2(c).is_integer()
        expected = log2(ROUND / GRADIENT / slowest)
        assert abs(log2(c) - expected) <= 1.01, "a busy machine may add to both"
        assert abs(log2(far) - expected - 5) <= 1.01


def solved(comm, **options):
    shard = shards(comm.size, equal=False)[comm.rank]
    return pmgt_mpi.solve(
        {"kind": "ridge", "l2": 0.1}, shard.A, shard.labels, steps=6, comm=comm,
        **options,
    )  # fmt: skip


def counts(result):
    names = ("step", "gradients", "rounds", "messages", "bytes")
    return [result.counts[name] for name in names]


def test_measuring_leaves_no_trace_in_bits_and_counts(comm, together, monkeypatch):
    given = solved(comm, round_in_gradients=32.0)
    calls = []

    def measured(*arguments):
        calls.append(cost.measured_in_run(*arguments))
        return 32.0  # what was measured depends on the machine

    monkeypatch.setattr(resolve, "measured_in_run", measured)
    found = solved(comm)
    with together:
        assert len(calls) == 1
        assert calls[0] >= 1.0 if comm.size > 1 else calls[0] == ALONE
        assert found.parameters == given.parameters
        assert counts(found) == counts(given)
        assert found.x_local.tobytes() == given.x_local.tobytes()


@pytest.mark.parametrize(
    "algorithm",
    ["nids", {"name": "pmgt-katyushax", "batch_size": 3}, {"name": "gt-svrg"}],
    ids=str,
)
def test_nothing_is_measured_for_those_who_do_not_ask(
    comm, together, monkeypatch, algorithm
):
    calls = []
    monkeypatch.setattr(resolve, "measured_in_run", lambda *_: calls.append(1))
    solved(comm, algorithm=algorithm)
    with together:
        assert calls == []
