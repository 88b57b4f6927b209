"""Rounds that travel while the agent computes: same bits, counts and clocks."""

from __future__ import annotations

import gc
import threading
import tracemalloc
from contextlib import suppress
from time import perf_counter, sleep

import numpy as np
import pytest

from pmgt_mpi.algorithms.dsa import DSA
from pmgt_mpi.algorithms.extra import Extra
from pmgt_mpi.algorithms.pg_extra import PGExtra
from pmgt_mpi.gossip import EXCHANGES, MIXINGS
from pmgt_mpi.gossip.exchange import SLOTS
from pmgt_mpi.gossip.gossip import UNDER_WAY, Gossip
from pmgt_mpi.graphs.build import build_network
from tests.support.engines import both_engines, engine_of
from tests.support.small_world import Case, vectors

both_forms = pytest.mark.parametrize("exchange", EXCHANGES)
METHODS = {
    "extra": Extra(step_size=0.05),
    "pg-extra": PGExtra(step_size=0.05),
    "dsa": DSA(batch_size=3, step_size=0.02),
}


def gossip_of(comm, exchange="persistent", engine="python"):
    network = build_network(comm.size, np.random.default_rng(3), topology="ring")
    here = network.neighbourhood(comm.rank)
    make = engine_of(comm, engine).exchange(exchange)
    return Gossip(comm, here, MIXINGS.load("chebyshev"), make)


def vector_of(comm, size=6):
    return np.random.default_rng(comm.rank).normal(size=size)


@both_engines
@both_forms
@pytest.mark.parametrize("size", [6, 700, 9000])
def test_a_mix_in_two_halves_has_the_bits_of_one_call(
    comm, together, size, exchange, engine
):
    whole, halves = (gossip_of(comm, exchange, engine) for _ in range(2))
    x = vector_of(comm, size)
    pairs = []
    for M in (0, 1, 2, SLOTS, 2 * SLOTS + 3):
        for kind in (x, x.astype(np.float32), x.reshape(2, -1), np.repeat(x, 2)[::2]):
            under_way = halves.start_mix(kind, M)
            pairs.append((whole.mix(kind, M), under_way.wait()))
    under_way = halves.start_gossip(x)
    pairs.append((whole.gossip(x)[0], under_way.wait()))
    counts = [(g.rounds, g.sent, g.edges()) for g in (whole, halves)]
    saved = [g.snapshot()["rounds"] for g in (whole, halves)]
    for gossip in (whole, halves):
        gossip.close()
    with together:
        for one, other in pairs:
            assert (one.shape, one.dtype) == (other.shape, other.dtype)
            assert one.tobytes() == other.tobytes()
        assert counts[0] == counts[1]
        assert saved[0] == saved[1]


@both_engines
@both_forms
@pytest.mark.parametrize("kind", ["pca", "logistic"])
@pytest.mark.parametrize("method", METHODS)
def test_a_method_has_the_bits_of_rounds_after_gradients(
    comm, together, method, kind, exchange, engine, monkeypatch
):
    class Over:
        def __init__(self, result):
            self.wait = lambda: result

    ends, costs = [], []
    for in_turn in (False, True):
        case = Case(comm, kind, equal=False, exchange=exchange,
                    engine=engine_of(comm, engine))  # fmt: skip
        if in_turn:
            agent = case.agent
            monkeypatch.setattr(
                agent, "start_gossip", lambda x, agent=agent: Over(agent.gossip(x))
            )
        algorithm = METHODS[method]
        state = algorithm.init(case.agent, np.full(5, 0.3))
        for _ in range(20):
            state = algorithm.step(case.agent, state)
        ends.append({name: v.tobytes() for name, v in vectors(state).items()})
        costs.append((case.agent.gradients, case.gossip.rounds, case.gossip.sent))
        case.close()
    with together:
        assert ends[0] == ends[1]
        assert costs[0] == costs[1]


@both_engines
def test_two_at_once_and_one_that_is_left_are_refused(comm, together, engine):
    gossip = gossip_of(comm, engine=engine)
    x = vector_of(comm)
    expected = gossip.mix(x, 3)
    under_way = gossip.start_mix(x, 3)
    refused = (
        lambda: gossip.start_mix(x, 3),
        lambda: gossip.start_gossip(x[:2]),
        lambda: gossip.mix(x, 3),
        lambda: gossip.gossip(x, x),
        gossip.snapshot,
        gossip.close,
    )
    with together:
        for call in refused:
            with pytest.raises(RuntimeError, match="was started and not waited for"):
                call()
    result = under_way.wait()
    with together:
        assert result.tobytes() == expected.tobytes()
        with pytest.raises(RuntimeError, match="twice"):
            under_way.wait()
    gossip.close()


@pytest.mark.mpi(min_size=2)
@both_engines
@both_forms
def test_where_messages_arrive_nothing_is_freed(comm, together, exchange, engine):
    """Not after an error that lies between the two halves, and is caught."""
    x = vector_of(comm, 20_000)
    gossip = gossip_of(comm, exchange, engine)
    near = len(gossip.neighbourhood.neighbours)
    gossip.mix(x, 2)
    tracemalloc.start()
    gossip = gossip_of(comm, exchange, engine)
    with suppress(ZeroDivisionError):
        under_way = gossip.start_mix(x, 2)
        x /= 0 // 0
        under_way.wait()
    gossip = under_way = None
    gc.collect()
    comm.Barrier()
    left, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    with together:
        assert left > (1 + near) * x.nbytes
        (kept,) = UNDER_WAY
    # The messages of the first round have been sent, and the second comes to its end.
    result = kept.wait()
    with together:
        assert result.size == x.size
        assert not UNDER_WAY


@both_engines
@both_forms
def test_the_array_that_was_given_may_change_at_once(comm, together, exchange, engine):
    gossip = gossip_of(comm, exchange, engine)
    x = vector_of(comm, 9000)
    expected = gossip.mix(x, 2)
    under_way = gossip.start_mix(x, 2)
    x[:] = np.nan
    result = under_way.wait()
    gossip.close()
    with together:
        assert result.tobytes() == expected.tobytes()


@pytest.mark.mpi(min_size=2)
@both_engines
def test_clocks_leave_out_what_is_done_between_and_the_watchdog_sees_the_wait(
    comm, together, engine
):
    gossip = gossip_of(comm, engine=engine)
    x = vector_of(comm)
    gossip.mix(x, 2)
    comm.Barrier()
    seen, done = [], threading.Event()

    def look() -> None:
        while not done.wait(0.01):
            seen.append((perf_counter(), gossip.entered))

    before = gossip.seconds
    if comm.rank == 0:
        sleep(0.6)
    thread = threading.Thread(target=look)
    thread.start()
    begin = perf_counter()
    under_way = gossip.start_mix(x, 2)
    sleep(0.2)
    middle, entered = perf_counter(), gossip.entered
    under_way.wait()
    end = perf_counter()
    done.set()
    thread.join()
    spent = gossip.seconds - before
    gossip.close()
    near = gossip.neighbourhood.neighbours
    with together:
        assert entered == gossip.entered == 0.0
        assert not any(start for time, start in seen if time < middle)
        assert 0 < spent < end - begin - 0.2
        if 0 in near:
            assert spent > 0.1
            assert sum(start > middle for _, start in seen) > 2


def test_a_lone_agent_spends_nothing_on_messages(comm, together):
    gossip = gossip_of(comm)
    under_way = gossip.start_gossip(vector_of(comm))
    under_way.wait()
    gossip.close()
    with together:
        assert (gossip.seconds > 0) == (gossip.rounds > 0) == (comm.size > 1)
