"""What a round costs in component gradients: measured once, for those who ask."""

from __future__ import annotations

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

ROUND, GRADIENT = 4e-3, 2e-5
"""Seconds of a round, and of a component gradient, on the clock of the test."""


class Watch:
    """A clock that goes on when somebody works, and not by itself."""

    now = 0.0

    def __call__(self):
        return self.now


class Slow:
    """An f_i whose component gradient takes so many seconds."""

    shape, rows = (D,), 64

    def __init__(self, watch, seconds):
        self.watch, self.seconds = watch, seconds

    def minibatch_grad(self, x, rows):
        self.watch.now += self.seconds * len(rows)
        return x


class SlowGossip(Gossip):
    watch: Watch

    def mix(self, x, rounds):
        self.watch.now += ROUND * rounds
        return super().mix(x, rounds)


@pytest.mark.mpi(min_size=2)
@pytest.mark.parametrize("slowest", [1, 8, 1000])
def test_a_round_is_held_against_the_gradients_of_the_slowest(
    comm, collective, together, monkeypatch, slowest
):
    watch = Watch()
    monkeypatch.setattr(cost, "perf_counter", watch)
    network = build_network(comm.size, np.random.default_rng(2), topology="ring")
    gossip = SlowGossip(
        comm,
        network.neighbourhood(comm.rank),
        MIXINGS.load("chebyshev"),
        EXCHANGES.load("persistent"),
    )
    gossip.watch = watch
    problem = Slow(watch, GRADIENT * (slowest if comm.rank == 0 else 1))
    c = measured_cost(gossip, problem, np.ones(D), collective)
    far = measured_cost(gossip, problem, np.ones(D), collective, wire=31 * ROUND)
    everywhere = collective.gather((c, far))
    gossip.close()
    with together:
        ratio = ROUND / GRADIENT / slowest
        assert everywhere == [(c, far)] * comm.size
        assert c == max(1.0, 2.0 ** round(log2(ratio)))
        assert far == max(1.0, 2.0 ** round(log2(32 * ratio)))


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
