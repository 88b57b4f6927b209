"""Collectives: the same bits for everybody, in an order that the agents' ids fix."""

from __future__ import annotations

import time
from functools import reduce

import numpy as np
import pytest

from pmgt_mpi.errors import UserError
from pmgt_mpi.mpi.collective import AgreedError, Collective


def part(agent, shape=(40,), dtype=float):
    """Numbers of such different sizes that the order of their sum matters."""
    rng = np.random.default_rng(agent)
    size = 10.0 ** rng.integers(-3, 4, shape)
    return (rng.normal(size=shape) * size).astype(dtype)


def by_tree(parts):
    """((0 + 1) + (2 + 3)) + …: halves of the largest power of two agents, added."""
    if len(parts) == 1:
        return parts[0]
    half = 1 << (len(parts) - 1).bit_length() - 1
    return by_tree(parts[:half]) + by_tree(parts[half:])


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("shape", [(40,), (7, 3), (1,)])
def test_a_sum_is_added_over_a_tree_of_the_agents(comm, together, shape, dtype):
    own = part(comm.rank, shape, dtype)
    kept = own.copy()
    total = Collective(comm).sum(own)
    parts = comm.allgather(own)
    with together:
        assert total.dtype == dtype
        assert total.shape == shape
        assert total.tobytes() == by_tree(parts).tobytes()
        assert own.tobytes() == kept.tobytes()
        assert total is not own
        if comm.size >= 4 and total.size > 20:
            one_by_one = reduce(np.add, parts)
            assert total.tobytes() != one_by_one.tobytes()


def test_sums_one_after_another_do_not_mix(comm, together):
    collective = Collective(comm)
    totals = [collective.sum(part(comm.rank + 10 * k)) for k in range(5)]
    expected = [
        by_tree([part(agent + 10 * k) for agent in range(comm.size)]) for k in range(5)
    ]
    with together:
        for total, right in zip(totals, expected, strict=True):
            assert total.tobytes() == right.tobytes()


def test_numbers_integers_and_nothing_at_all(collective, together):
    m = collective.agents
    number = collective.sum(np.array(0.5 + collective.agent))
    integers = collective.sum(np.array([collective.agent, 2**53 + 1]))
    nothing = collective.sum(np.empty((0, 3)))
    with together:
        assert number.shape == ()
        assert float(number) == m * (m - 1) / 2 + m / 2
        assert integers.dtype == np.int64
        assert integers.tolist() == [m * (m - 1) // 2, m * (2**53 + 1)]
        assert nothing.shape == (0, 3)


def test_arrays_that_do_not_lie_in_one_piece(comm, together):
    collective = Collective(comm)
    own = part(comm.rank, (6, 8))
    columns = collective.sum(own[:, ::2])
    turned = collective.sum(own.T)
    total = by_tree(comm.allgather(own))
    with together:
        assert columns.tobytes() == np.ascontiguousarray(total[:, ::2]).tobytes()
        assert turned.tobytes() == np.ascontiguousarray(total.T).tobytes()


def test_a_sum_has_the_same_bits_wherever_the_agents_are(comm, together):
    turned = comm.Split(0, key=-comm.rank)  # agent i is on rank m − 1 − i
    total = Collective(comm).sum(part(comm.rank))
    other = Collective(turned).sum(part(turned.rank))
    with together:
        assert total.tobytes() == other.tobytes()
    turned.Free()


def test_extremes_of_what_is_not_a_number_are_the_same_everywhere(
    comm, collective, together
):
    own = np.array([np.nan if comm.rank == 0 else 1.0, -np.inf])
    largest, smallest = collective.max(own), collective.min(own)
    with together:
        assert largest.tolist() == [np.inf, -np.inf]
        assert smallest.tolist() == [-np.inf, -np.inf]


def test_the_first_word_is_that_of_the_first_agent_that_has_one(collective, together):
    agent, last = collective.agent, collective.agents - 1
    silent = collective.first_word(None)
    of_last = collective.first_word("last" if agent == last else None)
    of_all = collective.first_word(f"agent {agent}")
    with together:
        assert (silent, of_last, of_all) == (None, "last", "agent 0")


def test_largest_smallest_and_all(collective, together):
    agent, m = collective.agent, collective.agents
    largest = collective.max(np.array([agent, -agent]))
    smallest = collective.min(np.array([agent, -agent]))
    words = collective.gather(("word", agent))
    gathered = collective.gather_to_first(agent)
    first = collective.from_first({"from": agent})
    last = collective.from_agent(m - 1, {"from": agent})
    with together:
        assert gathered == (list(range(m)) if agent == 0 else [])
        assert last == {"from": m - 1}
        assert largest.tolist() == [m - 1, 0]
        assert smallest.tolist() == [0, 1 - m]
        assert words == [("word", i) for i in range(m)]
        assert first == {"from": 0}
        assert (collective.agent, collective.agents) == (agent, m)


@pytest.mark.parametrize("failing", ["first", "last", "all"])
def test_if_one_agent_finds_wrong_input_all_raise_the_same(
    collective, together, failing
):
    agent, last = collective.agent, collective.agents - 1
    fails = {"first": agent == 0, "last": agent == last, "all": True}[failing]
    caught = None
    try:
        with collective.agreed():
            if fails:
                raise UserError(f"row {agent} is wrong")
    except AgreedError as error:
        caught = str(error)
    with together:
        assert caught == f"row {last if failing == 'last' else 0} is wrong"


def test_an_agreement_in_which_nothing_is_wrong(collective, together):
    done = []
    with collective.agreed():
        done.append(collective.agent)
    with together:
        assert done == [collective.agent]


def test_agreements_within_agreements(collective, together):
    caught = None
    try:
        with collective.agreed():
            with collective.agreed():
                if collective.agent == collective.agents - 1:
                    raise UserError("deep inside")
            raise AssertionError("not reached")
    except AgreedError as error:
        caught = error
    with together:
        assert str(caught) == "deep inside"
        assert caught.exit_code == 2


def test_a_fault_that_is_no_wrong_input_passes_straight_through(collective, together):
    with together, pytest.raises(ZeroDivisionError), collective.agreed():
        raise ZeroDivisionError


@pytest.mark.mpi(min_size=2)
def test_who_waits_for_the_others_work_leaves_them_the_core(comm, together, collective):
    comm.Barrier()
    start = time.process_time()
    with collective.agreed():
        if comm.rank == 0:
            time.sleep(0.5)
    busy = time.process_time() - start
    with together:
        assert busy < 0.2
