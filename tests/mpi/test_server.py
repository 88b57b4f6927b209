"""The setting with a server: exact means, and every message counted."""

from __future__ import annotations

import numpy as np

from tests.support.small_world import Case, D


def test_a_round_is_the_mean_and_costs_a_message_each_way(comm, together):
    case = Case(comm, "ridge", mixing="server")
    x = np.sin(np.arange(2.0 * D) + comm.rank).reshape(2, D)
    mean = comm.allreduce(x) / comm.size
    for mixed in (case.agent.mix(x, 1), case.agent.mix(x, 3), case.agent.gossip(x)):
        with together:
            np.testing.assert_allclose(mixed, mean, atol=1e-15)
    gossip, m = case.gossip, comm.size
    edges = gossip.edges()
    with together:
        assert gossip.rounds == (5 if m > 1 else 0)
        others = [i for i in range(m) if i != 0]
        assert list(edges) == (others if comm.rank == 0 else [0])
        for sent in edges.values():
            assert (sent.messages, sent.bytes) == (5, 5 * 2 * D * 8)
        assert gossip.sent.messages == 5 * len(edges)
    case.close()


def test_where_all_agree_nothing_is_left(comm, together):
    case = Case(comm, "ridge", mixing="server")
    same = np.full(D, 1 / 3)
    apart, mean = case.agent.disagreement(same), case.agent.mix(same, 1)
    x = np.sin(np.arange(D) + comm.rank)
    own = case.agent.disagreement(x)
    total = comm.allreduce(x) / comm.size
    with together:
        assert not apart.any()
        assert mean.tobytes() == same.tobytes()
        np.testing.assert_allclose(own, x - total, atol=1e-15)
    case.close()


def test_a_round_may_be_under_way_while_something_else_is_done(comm, together):
    case = Case(comm, "ridge", mixing="server")
    x = np.full(D, float(comm.rank))
    under_way = case.agent.start_mix(x, 2)
    case.agent.grad(x)
    mean = under_way.wait()
    with together:
        np.testing.assert_allclose(mean, (comm.size - 1) / 2, rtol=1e-15)
    case.close()


def test_the_largest_number_is_known_to_all_after_one_round(comm, together):
    case = Case(comm, "ridge", mixing="server")
    m = comm.size
    for number in (-3.0, 1e300):
        value = number if comm.rank == m - 1 else -5.0 - comm.rank
        largest = case.agent.largest(value, 7)
        with together:
            assert largest == number
    with together:
        assert case.gossip.rounds == (2 if m > 1 else 0)
        assert case.gossip.sent.bytes == 2 * 8 * len(case.gossip.edges()) * (m > 1)
    case.close()
