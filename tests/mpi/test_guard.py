"""The guard on real ranks: all agents ask, know, go back and change together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from mpi4py import MPI

import pmgt_mpi
from pmgt_mpi.checkpoints import statefile
from pmgt_mpi.graphs.build import build_network
from pmgt_mpi.parameters.guard import Guarded
from tests.support.methods import METHODS, ON_NETWORKS, TRAITS
from tests.support.small_world import Case, D

BOLD = 5.0
"""Multiple of 1/L_local with which every method diverges on the small ridge problem."""

GUARDED = [name for name in ON_NETWORKS if TRAITS[name].guarded]

SCALED = [name for name in GUARDED if hasattr(METHODS[name], "rescaled")]
"""Methods whose state holds variables in proportion to the step."""


def case_of(comm, name="nids"):
    l1 = 0.02 if TRAITS[name].proximal else 0.0
    return Case(comm, "ridge", equal=False, l1=l1)


def diameter(comm):
    return build_network(comm.size, None, topology="ring").diameter


def bold(comm, case, name):
    """The method with a step that is too large."""
    H = case.agent._weight * case.problem.hessian(np.zeros(D))
    L = comm.allreduce(float(np.linalg.eigvalsh(H)[-1]), MPI.MAX)
    return replace(METHODS[name], step_size=BOLD / L)


def distance(comm, case, x):
    """‖x̄ − prox(x̄ − ∇f(x̄))‖, and how far agents are apart."""
    mean = comm.allreduce(x) / comm.size
    g = comm.allreduce(case.agent._weighted(case.problem.grad(mean))) / comm.size
    apart = comm.allreduce(float(np.abs(x - mean).max()), MPI.MAX)
    return float(np.linalg.norm(mean - case.agent.prox(mean - g, 1.0))) + apart


@pytest.mark.parametrize("name", GUARDED)
def test_a_step_that_is_too_large_is_found_and_made_smaller(comm, together, name):
    case = case_of(comm, name)
    guard = Guarded(
        bold(comm, case, name), ("step_size",), diameter(comm), case.agent.n
    )
    start = distance(comm, case, np.full(D, 0.3))
    history = []
    with np.errstate(all="ignore"):
        s = guard.init(case.agent, np.full(D, 0.3))
        while s.step < 2000:
            s = guard.step(case.agent, s)
            history.append((s.step, s.next, s.changes, s.least))
            if s.step % 20 == 0:
                end = distance(comm, case, guard.solution(s))
                if end < start / 2:
                    break
    others = comm.allgather(history)
    with together:
        assert all(other == history for other in others)
        assert s.changes >= 1
        assert end < start / 2
    case.close()


@pytest.mark.parametrize("name", SCALED)
def test_a_rescaled_state_leads_to_the_minimiser(comm, together, name):
    case = case_of(comm, name)
    before = replace(METHODS[name], step_size=0.2)
    after = replace(before, step_size=0.1)
    state = before.init(case.agent, np.full(D, 0.3))
    for _ in range(25):
        state = before.step(case.agent, state)
    near = distance(comm, case, before.solution(state))
    state = after.rescaled(case.agent, state, 0.5)
    still = distance(comm, case, after.solution(state))
    for _ in range(600):
        state = after.step(case.agent, state)
    end = distance(comm, case, after.solution(state))
    with together:
        assert still < 10 * near + 1e-9
        assert end < 1e-3 * near
    case.close()


def test_rounds_of_the_guard_are_those_of_its_questions(comm, together):
    case = case_of(comm)
    guard = Guarded(METHODS["nids"], ("step_size",), diameter(comm), case.agent.n)
    s, asked, steps = guard.init(case.agent, np.full(D, 0.3)), 0, 1000
    for _ in range(steps):
        due = s.step + 1 == s.next
        s = guard.step(case.agent, s)
        asked += due
    plain = (steps - 1) * (comm.size > 1)  # NIDS takes none in its first step
    with together:
        assert asked >= 10
        assert case.gossip.rounds == plain + asked * diameter(comm)
        assert asked * diameter(comm) <= 0.07 * steps
    case.close()


def test_a_checkpoint_in_between_gives_the_same_bits(comm, together, mpi_tmp_path):
    """The copy of the good state comes back, and what was one array stays one."""
    path, ends = mpi_tmp_path / f"{comm.rank}.state", []
    for stops in (False, True):
        case = case_of(comm)
        method = bold(comm, case, "nids")
        guard = Guarded(method, ("step_size",), diameter(comm), case.agent.n)
        with np.errstate(all="ignore"):
            s = guard.init(case.agent, np.full(D, 0.3))
            for _ in range(150):
                if stops and s.step in (1, 50, 61):
                    seal = statefile.write(path, *statefile.flatten(s))
                    guard = Guarded(method, ("step_size",), diameter(comm), 1)
                    fresh = guard.init(case.agent, np.zeros(D))
                    s = statefile.rebuild(fresh, *statefile.read(path.parent, seal))
                s = guard.step(case.agent, s)
        ends.append((s.changes, s.least, guard.solution(s).tobytes()))
        case.close()
    with together:
        assert ends[0][0] >= 1
        assert ends[0] == ends[1]


def rows_of(comm):
    rng = np.random.default_rng([4, comm.rank])
    A = rng.normal(size=(30, D))
    return A, A.sum(axis=1) + rng.normal(size=30)


def solved(comm, **options):
    problem = {"kind": "ridge", "l2": 0.1}
    return pmgt_mpi.solve(
        problem, *rows_of(comm), comm=comm, steps=1500, relative_suboptimality=1e-8,
        algorithm={"name": "nids", "step_size": 20.0, **options},
    )  # fmt: skip


def test_a_run_that_is_far_away_is_brought_back(comm, together):
    """Each step is evaluated: what would be the end of a run is none with a guard."""
    alone, watched = solved(comm), solved(comm, guard=["step_size"])
    with together:
        assert alone.status == "diverged"
        assert watched.status == "converged"
        assert any(r["relative_suboptimality"] > 1e6 for r in watched.trace)
        (note,) = [n for n in watched.notes if "went back" in n]
        assert note.startswith("nids: the run grew, and went back ")
        assert "step_size from 20 to " in note


def test_numbers_are_not_watched(comm, together):
    result = solved(comm, step_size=0.01)
    with together:
        assert result.counts["bytes"] % (8 * D) == 0
        assert result.counts["rounds"] in (0, result.counts["step"] - 1)
