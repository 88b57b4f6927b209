"""Collectives: the same bits for everybody, in the order of the agents."""

from __future__ import annotations

import time

import numpy as np
import pytest

from pmgt_mpi import collective as module
from pmgt_mpi.collective import AgreedError, Collective
from pmgt_mpi.errors import UserError


@pytest.fixture(params=["gathered", "one after another"])
def adding(request, monkeypatch):
    """Both ways to add: all parts at once, and beyond the limit."""
    if request.param == "one after another":
        monkeypatch.setattr(module, "GATHER_LIMIT", 0)


def part(agent, shape=(40,), dtype=float):
    """Numbers of such different sizes that the order of their sum matters."""
    rng = np.random.default_rng(agent)
    size = 10.0 ** rng.integers(-3, 4, shape)
    return (rng.normal(size=shape) * size).astype(dtype)


def in_order(parts):
    total = parts[0].copy()
    for other in parts[1:]:
        total = total + other
    return total


@pytest.mark.usefixtures("adding")
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("shape", [(40,), (7, 3), (1,)])
def test_a_sum_is_added_in_the_order_of_the_agents(comm, together, shape, dtype):
    own = part(comm.rank, shape, dtype)
    kept = own.copy()
    total = Collective(comm).sum(own)
    parts = comm.allgather(own)
    with together:
        assert total.dtype == dtype
        assert total.shape == shape
        assert total.tobytes() == in_order(parts).tobytes()
        assert own.tobytes() == kept.tobytes()
        assert total is not own
        if comm.size >= 3 and total.size > 20:
            assert total.tobytes() != in_order(parts[::-1]).tobytes()


@pytest.mark.usefixtures("adding")
def test_sums_one_after_another_do_not_mix(comm, together):
    collective = Collective(comm)
    totals = [collective.sum(part(comm.rank + 10 * k)) for k in range(5)]
    expected = [
        in_order([part(agent + 10 * k) for agent in range(comm.size)]) for k in range(5)
    ]
    with together:
        for total, right in zip(totals, expected, strict=True):
            assert total.tobytes() == right.tobytes()


@pytest.mark.usefixtures("adding")
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


@pytest.mark.usefixtures("adding")
def test_arrays_that_do_not_lie_in_one_piece(comm, together):
    collective = Collective(comm)
    own = part(comm.rank, (6, 8))
    columns = collective.sum(own[:, ::2])
    turned = collective.sum(own.T)
    total = in_order(comm.allgather(own))
    with together:
        assert columns.tobytes() == np.ascontiguousarray(total[:, ::2]).tobytes()
        assert turned.tobytes() == np.ascontiguousarray(total.T).tobytes()


def test_only_what_exceeds_the_limit_goes_one_after_another(comm, together):
    class Watched:
        """A communicator that remembers which ways were taken."""

        def __init__(self):
            self.ways = set()

        def __getattr__(self, name):
            if name in ("Gather", "Send", "Recv"):
                self.ways.add(name)
            return getattr(comm, name)

    watched = Watched()
    Collective(watched).sum(np.zeros(module.GATHER_LIMIT // comm.size))
    small = set(watched.ways)
    watched.ways.clear()
    Collective(watched).sum(np.zeros(module.GATHER_LIMIT // comm.size + 1))
    with together:
        if comm.size > 1:
            assert small == {"Gather"}
            assert watched.ways == {"Recv" if comm.rank == 0 else "Send"}


def test_largest_smallest_and_all(collective, together):
    agent, m = collective.agent, collective.agents
    largest = collective.max(np.array([agent, -agent]))
    smallest = collective.min(np.array([agent, -agent]))
    words = collective.gather(("word", agent))
    first = collective.from_first({"from": agent})
    with together:
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
