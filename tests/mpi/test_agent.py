"""The agent: what it counts, and which random numbers it gives to whom."""

from __future__ import annotations

import numpy as np

from tests.support.engines import both_engines, engine_of
from tests.support.small_world import Case, D


def test_gradients_are_counted_as_they_are_asked_for(comm, together):
    agent = Case(comm, "ridge", equal=False).agent
    x = np.ones(D)
    rows = agent._problem.rows
    agent.grad(x)
    agent.grad_difference(x, 2 * x, agent.minibatch(7))
    with together:
        assert agent.gradients == rows + 14
        assert agent.gradients_paper == rows + 7


def test_rows_are_drawn_from_each_agents_own_stream(comm, together):
    agent = Case(comm, "ridge").agent
    drawn = comm.allgather(agent.minibatch(30).tolist())
    with together:
        assert len({tuple(rows) for rows in drawn}) == comm.size


def test_rows_are_drawn_with_replacement_from_all_own_rows(comm, together):
    agent = Case(comm, "ridge", equal=False).agent
    rows = agent._problem.rows
    batches = np.array([agent.minibatch(5) for _ in range(2000)])
    with together:
        assert set(batches.ravel()) == set(range(rows))
        repeated = np.mean([len(set(batch)) < 5 for batch in batches])
        expected = 1 - np.prod(1 - np.arange(5) / rows)
        assert abs(repeated - expected) < 0.05


def test_T_is_geometric_from_zero_and_the_same_on_every_agent(comm, together):
    agent = Case(comm, "ridge").agent
    drawn = [agent.geometric(0.2) for _ in range(4000)]
    everywhere = comm.allgather(drawn)
    with together:
        assert all(other == drawn for other in everywhere)
        assert min(drawn) == 0
        assert abs(np.mean(drawn) - 4) < 0.3
        assert abs(np.mean(np.array(drawn) == 0) - 0.2) < 0.03


def test_a_coin_is_the_same_on_every_agent_and_an_own_coin_is_not(comm, together):
    agent = Case(comm, "ridge").agent
    shared = [agent.coin(0.3) for _ in range(3000)]
    own = [agent.own_coin(0.3) for _ in range(3000)]
    everywhere = comm.allgather((shared, own))
    with together:
        assert all(other == shared for other, _ in everywhere)
        assert len({tuple(other) for _, other in everywhere}) == comm.size
        assert abs(np.mean(shared) - 0.3) < 0.04
        assert abs(np.mean(own) - 0.3) < 0.04


def test_remembered_gradients_are_counted_and_weighted(comm, together):
    case = Case(comm, "ridge", equal=False)
    agent, x = case.agent, np.ones(D)
    g, table, mean = agent.remember(x)
    rows = agent._problem.rows
    estimate, _ = agent.saga(x, agent.minibatch(4), table, mean)
    with together:
        assert agent.gradients == agent.gradients_paper == rows + 4
        np.testing.assert_allclose(g, agent.grad(x), rtol=1e-12)
        np.testing.assert_allclose(estimate, g, rtol=1e-12)


def test_arrays_that_gossip_together_share_a_message(comm, together):
    case = Case(comm, "ridge")
    x, t = np.full(D, comm.rank + 1.0), np.full((2, D), comm.rank - 2.0)
    W_x, W_t = case.agent.gossip_together(x, t)
    rounds, sent = case.gossip.rounds, case.gossip.sent
    with together:
        assert rounds == (comm.size > 1)
        degree = len(case.gossip.neighbourhood.neighbours)
        assert sent.messages == degree
        assert sent.bytes == degree * 3 * D * 8
        assert (W_x.shape, W_t.shape) == (x.shape, t.shape)
    alone = case.agent.gossip(x)
    with together:
        np.testing.assert_allclose(W_x, alone, rtol=1e-15)


def test_arrays_that_are_mixed_together_share_their_messages(comm, together):
    case = Case(comm, "ridge")
    x, t = np.full(D, comm.rank + 1.0), np.full((2, D), comm.rank - 2.0)
    mixed = case.agent.mix_together(3, x, t)
    rounds, sent = case.gossip.rounds, case.gossip.sent
    with together:
        assert rounds == 3 * (comm.size > 1)
        degree = len(case.gossip.neighbourhood.neighbours)
        assert (sent.messages, sent.bytes) == (3 * degree, 3 * degree * 3 * D * 8)
    for ours, alone in zip(mixed, (x, t), strict=True):
        other = case.agent.mix(alone, 3)
        with together:
            np.testing.assert_allclose(ours, other, rtol=1e-15)


def test_disagreement_is_x_minus_W_x_and_nothing_where_all_agree(comm, together):
    case = Case(comm, "ridge")
    x = np.sin(np.arange(2.0 * D).reshape(2, D) + comm.rank)
    apart, W_x = case.agent.disagreement(x), case.agent.gossip(x)
    rounds = case.gossip.rounds
    none = case.agent.disagreement(np.full(D, 1 / 3))
    with together:
        np.testing.assert_allclose(apart, x - W_x, atol=1e-15)
        assert rounds == 2 * (comm.size > 1)
        assert not none.any()


def test_single_rows_are_those_of_the_whole_and_counted(comm, together):
    agent = Case(comm, "logistic", equal=False).agent
    x, f = np.full(D, 0.2), agent.components
    whole = f.combine(agent.slopes(f.dot(x))) + f.mu * x
    n = agent.gradients
    row = agent.choose(np.cumsum(f.norms))
    r = f.dot(x, row)
    s = agent.proximal_slope(r, 40.0, row)
    with together:
        np.testing.assert_allclose(whole, agent.grad(x), rtol=1e-12)
        assert n == len(f.norms)
        assert agent.gradients == 2 * n + 1
        zeta = r - 40.0 * s
        np.testing.assert_allclose(agent.slopes(zeta, row), s, rtol=1e-12)


def test_rows_are_chosen_by_their_weights(comm, together):
    agent = Case(comm, "ridge").agent
    weights = np.array([1.0, 0.0, 3.0, 4.0])
    drawn = [int(agent.choose(np.cumsum(weights))[0]) for _ in range(4000)]
    share = np.bincount(drawn, minlength=4) / 4000
    with together:
        np.testing.assert_allclose(share, weights / 8, atol=0.04)
        assert share[1] == 0


def test_the_difference_of_a_user_without_one_is_that_of_two_minibatches(
    comm, together
):
    agent = Case(comm, "logistic", equal=False).agent
    w, w0, rows = np.ones(D), np.zeros(D), agent.minibatch(6)
    ours = agent.grad_difference(w, w0, rows)
    agent._difference = None
    plain = agent.grad_difference(w, w0, rows)
    with together:
        np.testing.assert_allclose(ours, plain, rtol=1e-12)


@both_engines
def test_after_diameter_rounds_all_know_the_largest(comm, together, engine):
    case = Case(comm, "ridge", engine=engine_of(comm, engine))
    rounds, values = comm.size // 2, [3.0, -1.0, 7.5, 0.25, 7.0][: comm.size]
    largest = case.agent.largest(values[comm.rank], rounds)  # on a ring
    degree, sent = len(case.gossip.neighbourhood.neighbours), case.gossip.sent
    after = case.agent.gossip(np.ones(D))
    with together:
        assert largest == max(values)
        assert case.gossip.rounds == rounds + (comm.size > 1)
        assert sent.messages == degree * rounds
        assert sent.bytes == 8 * degree * rounds
        np.testing.assert_allclose(after, np.ones(D), rtol=1e-15)
    case.close()


def test_one_round_brings_what_the_neighbours_know(comm, together):
    case = Case(comm, "ridge")
    here = [comm.rank, *case.gossip.neighbourhood.neighbours]
    value = case.agent.largest(-float(comm.rank), 1)
    endless = case.agent.largest(np.inf if comm.rank == 0 else 1.0, 1)
    with together:
        assert value == -min(here)
        assert endless == (np.inf if 0 in here else 1.0)
    case.close()
