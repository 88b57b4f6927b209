"""No hidden global step: an algorithm has its agent, and nothing else of the world."""

from __future__ import annotations

import sys
from contextlib import contextmanager, nullcontext

import numpy as np
import pytest
from mpi4py import MPI

from pmgt_mpi.gossip import EXCHANGES
from tests.support.engines import both_engines, engine_of
from tests.support.methods import METHODS, TRAITS, fits
from tests.support.point_to_point import COLLECTIVES, PointToPoint
from tests.support.small_world import Case, D

POINT_TO_POINT = {
    "Isend", "Irecv", "Send_init", "Recv_init", "Free", "Dup", "Clone",
}  # fmt: skip


def test_the_list_of_collectives_is_not_empty_and_they_raise(comm):
    assert {"Barrier", "bcast", "Allreduce", "Ibarrier", "allgather"} <= set(
        COLLECTIVES
    )
    assert not POINT_TO_POINT & set(COLLECTIVES)
    with pytest.raises(AssertionError, match="collective Allreduce"):
        PointToPoint(comm).Allreduce(np.zeros(1), np.zeros(1))


class OutOfBounds:
    """Stands where a module has a communicator, while an algorithm runs."""

    def __getattr__(self, name):
        raise AssertionError(f"an algorithm asked the world's communicator for {name}")


@contextmanager
def out_of_reach(method):
    """Take every communicator out of MPI's module and out of the algorithm's."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (MPI, sys.modules[type(method).__module__]):
            for name, value in list(vars(module).items()):
                if isinstance(value, MPI.Comm):
                    patch.setattr(module, name, OutOfBounds())
        yield


def run(case, method):
    """Return the solution after five steps."""
    state = method.init(case.agent, np.full(D, 0.3))
    for _ in range(5):
        state = method.step(case.agent, state)
    return method.solution(state)


@both_engines
@pytest.mark.parametrize("exchange", EXCHANGES)
@pytest.mark.parametrize("name", METHODS)
def test_same_bits_without_collectives(comm, together, name, exchange, engine):
    if not fits(name, comm.size):
        return
    l1 = 0.02 if TRAITS[name].proximal else 0.0
    chosen = engine_of(comm, engine)
    results = []
    for communicator in (comm, PointToPoint(comm)):
        case = Case(
            comm, "ridge", equal=False, l1=l1, exchange=exchange, engine=chosen,
            wire=communicator,
        )  # fmt: skip
        with nullcontext() if communicator is comm else out_of_reach(METHODS[name]):
            results.append(run(case, METHODS[name]))
        case.close()
    with together:
        assert results[0].tobytes() == results[1].tobytes()


@pytest.mark.parametrize("name", METHODS)
def test_agents_with_the_same_rows_and_chance_do_the_same(comm, together, name):
    """On a ring nothing but its number tells an agent from another."""
    if not fits(name, comm.size):
        return
    case = Case(comm, "ridge", alike=True)
    x = run(case, METHODS[name])
    everyones = comm.allgather(x)
    with together:
        for agent, theirs in enumerate(everyones):
            np.testing.assert_allclose(
                x,
                theirs,
                rtol=1e-12,
                atol=1e-13,
                err_msg=f"{name}: not as agent {agent}",
            )
    case.close()
