"""Gossip over real messages: equal to W as a matrix, counted, in every form."""

from __future__ import annotations

import gc
import threading
import tracemalloc
from time import perf_counter, sleep

import numpy as np
import pytest
from mpi4py import MPI

from pmgt_mpi.engine.library import DTYPES, Library
from pmgt_mpi.engine.variants import variants
from pmgt_mpi.gossip import EXCHANGES, MIXINGS
from pmgt_mpi.gossip.compiled import compiled_exchange, handles
from pmgt_mpi.gossip.exchange import SLOTS, tape_shape
from pmgt_mpi.gossip.gossip import Gossip
from pmgt_mpi.gossip.polynomials import coefficients
from pmgt_mpi.graphs.build import build_network
from tests.support.engines import ENGINES, both_engines, engine_of


def world_of(comm, topology="ring", weights="laplacian"):
    """The network (all of it, for comparison) and a start: one row for each agent."""
    network = build_network(
        comm.size, np.random.default_rng(3), topology=topology, weights=weights
    )
    X = np.random.default_rng(7).normal(size=(comm.size, 6))
    return network, X


def gossip_of(comm, network, mixing="chebyshev", exchange="isend", engine="python"):
    return Gossip(
        comm,
        network.neighbourhood(comm.rank),
        MIXINGS.load(mixing),
        engine_of(comm, engine).exchange(exchange),
    )


def mixed(network, X, mixing, M):
    """The same polynomial with W as a dense matrix."""
    if network.agents == 1:
        return X
    W = network.W.toarray()
    terms = coefficients(MIXINGS.load(mixing), M, network.lambda_2, network.lambda_min)
    before = now = X
    for c, d, e in terms:
        before, now = now, c * W @ now + d * now + e * before
    return now


@both_engines
@pytest.mark.parametrize("exchange", EXCHANGES)
@pytest.mark.parametrize("mixing", MIXINGS)
@pytest.mark.parametrize("topology", ["ring", "star", "complete", "two-neighbours"])
def test_mixing_is_the_polynomial_of_W(
    comm, together, topology, mixing, exchange, engine
):
    network, X = world_of(comm, topology)
    gossip = gossip_of(comm, network, mixing, exchange, engine)
    for M in (1, 2, SLOTS, SLOTS + 1, 3 * SLOTS + 2):
        expected = mixed(network, X, mixing, M)[comm.rank]
        ours = gossip.mix(X[comm.rank], M)
        with together:
            np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-13)
    gossip.close()


@both_engines
@pytest.mark.parametrize("exchange", EXCHANGES)
def test_long_vectors_have_a_shorter_tape(comm, together, exchange, engine):
    network, _ = world_of(comm)
    X = np.random.default_rng(7).normal(size=(comm.size, 9000))
    degree = len(network.neighbourhood(comm.rank).neighbours)
    gossip = gossip_of(comm, network, exchange=exchange, engine=engine)
    ours = gossip.mix(X[comm.rank], SLOTS + 3)
    expected = mixed(network, X, "chebyshev", SLOTS + 3)[comm.rank]
    gossip.close()
    with together:
        assert tape_shape(degree, X[0].nbytes)[0] < tape_shape(degree, 8)[0] == SLOTS
        np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-13)


@both_engines
def test_both_forms_give_the_same_bits_every_time(comm, together, engine):
    network, X = world_of(comm)
    results = []
    for exchange in [*EXCHANGES, *EXCHANGES]:
        gossip = gossip_of(comm, network, exchange=exchange, engine=engine)
        results += [gossip.mix(X[comm.rank], 11), gossip.mix(X[comm.rank], 11)]
        gossip.close()
    with together:
        assert len({result.tobytes() for result in results}) == 1


@pytest.mark.parametrize("d", [1, 3, 50, 5000])
def test_both_engines_agree_on_vectors_of_any_size(comm, together, d):
    network, _ = world_of(comm, "complete")
    x = np.random.default_rng(comm.rank).normal(size=d)
    results = []
    for engine in ENGINES:
        gossip = gossip_of(comm, network, exchange="persistent", engine=engine)
        results.append(gossip.mix(x, 7))
        gossip.close()
    with together:
        np.testing.assert_allclose(*results, rtol=0, atol=1e-13)


@both_engines
def test_plain_round_of_several_arrays_is_one_message(comm, together, engine):
    network, X = world_of(comm)
    gossip = gossip_of(comm, network, engine=engine)
    first = X[comm.rank]
    second = 2 * X[comm.rank][:4].reshape(2, 2)
    ours = gossip.gossip(first, second)
    W = network.W.toarray()
    with together:
        np.testing.assert_allclose(ours[0], (W @ X)[comm.rank], atol=1e-14)
        expected = 2 * (W @ X)[comm.rank][:4].reshape(2, 2)
        np.testing.assert_allclose(ours[1], expected, atol=1e-14)
        assert gossip.rounds == (comm.size > 1)
        degree = len(network.neighbourhood(comm.rank).neighbours)
        assert gossip.sent.messages == degree
        assert gossip.sent.bytes == degree * 10 * 8


@both_engines
def test_counts_of_rounds_messages_and_bytes(comm, together, engine):
    network, X = world_of(comm, "star")
    gossip = gossip_of(comm, network, engine=engine)
    gossip.mix(X[comm.rank], 5)
    gossip.mix(X[comm.rank].astype(np.float32), 3)
    gossip.gossip(X[comm.rank])
    degree = 0 if comm.size == 1 else comm.size - 1 if comm.rank == 0 else 1
    with together:
        assert gossip.rounds == (9 if comm.size > 1 else 0)
        assert gossip.sent.messages == 9 * degree
        assert gossip.sent.bytes == degree * (6 * 6 * 8 + 3 * 6 * 4)
        edges = gossip.edges()
        assert set(edges) == set(network.neighbourhood(comm.rank).neighbours)
        assert set(edges.values()) <= {(9, 6 * 6 * 8 + 3 * 6 * 4)}


@both_engines
def test_the_input_is_left_alone_and_the_result_is_new(comm, together, engine):
    network, X = world_of(comm)
    gossip = gossip_of(comm, network, engine=engine)
    x = X[comm.rank].copy()
    first = gossip.mix(x, 2)
    kept = first.copy()
    second = gossip.mix(2 * x, 2)
    with together:
        assert (x == X[comm.rank]).all()
        assert (first == kept).all()
        assert not np.shares_memory(first, second)


@both_engines
def test_matrices_and_single_precision_travel_as_they_are(comm, together, engine):
    network, _ = world_of(comm)
    X = np.random.default_rng(5).normal(size=(comm.size, 4, 3)).astype(np.float32)
    gossip = gossip_of(comm, network, engine=engine)
    ours = gossip.mix(X[comm.rank], 4)
    expected = mixed(network, X.reshape(comm.size, -1), "chebyshev", 4)
    with together:
        assert ours.shape == (4, 3)
        assert ours.dtype == np.float32
        np.testing.assert_allclose(
            ours.reshape(-1), expected[comm.rank], rtol=0, atol=2e-6
        )


def test_zero_rounds_are_the_identity_and_send_nothing(comm, together):
    network, X = world_of(comm)
    gossip = gossip_of(comm, network)
    ours = gossip.mix(X[comm.rank], 0)
    with together:
        assert (ours == X[comm.rank]).all()
        assert gossip.rounds == gossip.sent.messages == 0


@pytest.mark.mpi(min_size=2)
@both_engines
def test_other_threads_run_while_a_mix_waits(comm, together, engine):
    network, X = world_of(comm)
    gossip = gossip_of(comm, network, exchange="persistent", engine=engine)
    ticks, done = [], threading.Event()

    def tick() -> None:
        while not done.wait(0.01):
            ticks.append(perf_counter())

    thread = threading.Thread(target=tick)
    thread.start()
    if comm.rank == 0:
        sleep(0.5)
    start = perf_counter()
    gossip.mix(X[comm.rank], 2)
    end = perf_counter()
    done.set()
    thread.join()
    gossip.close()
    neighbours = network.neighbourhood(0).neighbours
    with together:
        if comm.rank in neighbours:
            assert end - start > 0.3
            assert sum(start < t < end for t in ticks) > 5


@both_engines
def test_arrays_of_every_kind_are_mixed(comm, together, engine):
    network, X = world_of(comm)
    gossip = gossip_of(comm, network, exchange="persistent", engine=engine)
    x = X[comm.rank]
    with_gaps = np.repeat(x, 3)[::3]
    read_only = x.copy()
    read_only.flags.writeable = False
    shifted = np.zeros(x.nbytes + 1, np.uint8)[1:].view(x.dtype)
    shifted[...] = x
    # An equal type that is another object, as of arrays that were pickled.
    other_type = x.astype(np.dtype(x.dtype, metadata={"kept": 1}))
    kinds = (with_gaps, read_only, shifted, x.view(np.matrix).A1, other_type)
    results = [gossip.mix(kind, 4) for kind in (x, *kinds)]
    by_columns = gossip.mix(np.asfortranarray(x.reshape(2, 3)), 4)
    gossip.close()
    with together:
        assert {result.tobytes() for result in results} == {results[0].tobytes()}
        assert by_columns.tolist() == results[0].reshape(2, 3).tolist()
        assert all(result.flags.writeable for result in results)


@pytest.mark.mpi(min_size=2)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("size", [1, 3, 7, 50, 1023, 1025])
def test_every_build_of_the_engine_mixes_to_the_same_bits(comm, together, dtype, size):
    engine_of(comm, "compiled")
    if Library().variant == "baseline":
        pytest.skip("this processor runs one build only")
    network, _ = world_of(comm)
    x = np.random.default_rng(comm.rank).normal(size=size).astype(dtype)
    found = {}
    names = list(variants())
    for variant in names[: names.index(Library().variant) + 1]:
        exchange = compiled_exchange(Library(variant), "persistent")
        here = network.neighbourhood(comm.rank)
        gossip = Gossip(comm, here, MIXINGS.load("chebyshev"), exchange)
        found[variant] = [gossip.mix(x, M).tobytes() for M in (1, 2, 9)]
        gossip.close()
    with together:
        assert all(bits == found["baseline"] for bits in found.values())


@both_engines
@pytest.mark.parametrize("exchange", EXCHANGES)
def test_mixes_keep_no_memory(comm, together, exchange, engine):
    network, _ = world_of(comm)
    gossip = gossip_of(comm, network, exchange=exchange, engine=engine)
    x = np.zeros(1000)
    kinds = (x, np.repeat(x, 2)[::2])
    before = 0
    tracemalloc.start()
    for k in range(60):
        for kind in kinds:
            gossip.mix(kind, 3)
            gossip.start_mix(kind, 3).wait()
        if k == 10:
            before, _ = tracemalloc.get_traced_memory()
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    gossip.close()
    with together:
        assert after - before < 10 * x.nbytes


@pytest.mark.mpi(min_size=2)
@both_engines
def test_a_gossip_that_is_gone_leaves_nothing(comm, together, engine):
    network, _ = world_of(comm)
    x = np.zeros(100_000)
    tracemalloc.start()
    gossip = gossip_of(comm, network, exchange="persistent", engine=engine)
    gossip.mix(x, 2)
    held, _ = tracemalloc.get_traced_memory()
    gossip.close()
    del gossip
    gc.collect()
    left, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    with together:
        assert held > 4 * x.nbytes
        assert left < x.nbytes


@pytest.mark.mpi(min_size=2)
def test_an_error_of_mpi_in_compiled_rounds_is_raised(comm, together):
    network, X = world_of(comm)
    gossip = gossip_of(comm, network, exchange="persistent", engine="compiled")
    gossip.mix(X[comm.rank], 2)
    exchange = gossip._exchange(X.shape[1], X.dtype)
    exchange._handles[...] = handles([MPI.REQUEST_NULL])
    with together:
        with pytest.raises(MPI.Exception):
            gossip.mix(X[comm.rank], 2)
        assert gossip.rounds == 2
    gossip.close()
