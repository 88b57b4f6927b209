"""The loop: when it stops, that all stop together, and what its clock leaves out."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np
import pytest

from pmgt_mpi.agent import Agent
from pmgt_mpi.clock import Clock
from pmgt_mpi.config.sections import StopSection
from pmgt_mpi.execution.evaluation import FAR_ABOVE_START, Evaluator, Objective
from pmgt_mpi.execution.loop import run_loop
from pmgt_mpi.gossip.exchange import PersistentExchange
from pmgt_mpi.gossip.gossip import Gossip
from pmgt_mpi.gossip.polynomials import chebyshev
from pmgt_mpi.graphs.build import build_network
from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.optimum.reference import Reference
from pmgt_mpi.regularizers.none import NoRegularizer

D = 3
NEVER = 200_000
"""Steps that no run of these tests comes to."""

MINIMISER = Reference(np.ones(D), 0.0, np.zeros(D), 0.0)


class Spring:
    """f_i(x) = ½‖x − a_i‖², a_i = 1 on every agent: x* is all ones, F* = 0."""

    shape, rows = (D,), 2

    def __init__(self, value_seconds=0.0):
        self.value_seconds = value_seconds

    def value(self, x):
        time.sleep(self.value_seconds)
        return float(np.sum((x - 1) ** 2) / 2)

    def grad(self, x):
        return x - 1

    def minibatch_grad(self, x, rows):  # noqa: ARG002
        return x - 1

    def bregman(self, x, x_star):
        return float(np.sum((x - x_star) ** 2) / 2)


@dataclass(frozen=True)
class Walk:
    """x ← x − step ∇f(x), one agent at a time; mixed only if `mixes`."""

    step_size: float = 0.5
    seconds: float = 0.0
    mixes: bool = False
    nan_at: int = -1

    def init(self, agent, x0):  # noqa: ARG002
        return (0, x0)

    def step(self, agent, state):
        k, x = state
        if self.seconds:
            time.sleep(self.seconds)
        x = x - self.step_size * agent.grad(x)
        if self.mixes:
            x = agent.mix(x, 1)
        return (k + 1, x * np.nan if k + 1 == self.nan_at else x)

    def solution(self, state):
        return state[1]


@dataclass
class Seen:
    """How a run ended, and what was watched on the way."""

    outcome: object
    watched: list
    evaluator: Evaluator

    @property
    def steps(self):
        return [record["step"] for record in self.outcome.records]

    def told(self, key):
        return [record[key] for record in self.outcome.records]


@pytest.fixture
def loop(comm):
    """Run an algorithm on this communicator; every agent may have another problem."""
    freed = []

    def run(
        algorithm, problem=None, *, steps=NEVER, every=1, watch_seconds=0.0,
        reference=True, **stop,
    ):  # fmt: skip
        problem = problem or Spring()
        with_mapping = "gradient_mapping" in stop
        collective = Collective(comm.Dup())
        network = build_network(comm.size, np.random.default_rng(0), topology="ring")
        here = network.neighbourhood(comm.rank)
        gossip = Gossip(comm, here, chebyshev, PersistentExchange)
        freed.extend([gossip.close, collective.comm.Free])
        psi = NoRegularizer()
        agent = Agent(
            problem, psi, gossip, weight=1.0, n=2, seed=1, stream_name="walk",
            agent_id=comm.rank,
        )  # fmt: skip
        x_star = MINIMISER if reference else None
        objective = Objective(collective, problem, psi, 1.0, x_star)
        clock = Clock()
        x0 = np.zeros(D)
        evaluator = Evaluator(
            "walk", objective, x0, agent, gossip, clock, with_mapping=with_mapping
        )
        watched = []

        def watch(step, record):
            watched.append((step, record and record["step"]))
            # The first time it must show alone: there is no agreement after it.
            time.sleep(watch_seconds if step else 5 * watch_seconds)

        comm.Barrier()
        outcome = run_loop(
            algorithm, agent, x0, clock=clock, wall=Clock(), evaluator=evaluator,
            collective=collective, steps=steps, every=every, stop=StopSection(**stop),
            watch=watch,
        )  # fmt: skip
        return Seen(outcome, watched, evaluator)

    yield run
    for free in freed:
        free()


def everywhere(comm, together, value):
    """Return a value that must be the same on all agents."""
    values = comm.allgather(value)
    with together:
        assert values == [values[0]] * comm.size
    return values[0]


def slow_on_last(comm, **options):
    """A walk whose steps take long on the last agent alone."""
    return Walk(seconds=0.002 if comm.rank == comm.size - 1 else 0.0, **options)


def test_steps_are_a_budget_and_are_evaluated_as_asked(comm, loop, together):
    for steps, every, expected in [
        (5, 1, [0, 1, 2, 3, 4, 5]),
        (5, 2, [0, 2, 4, 5]),
        (6, 3, [0, 3, 6]),
        (4, 9, [0, 4]),
        (5, 0, [0, 5]),
        (1, 1, [0, 1]),
    ]:
        seen = loop(Walk(), steps=steps, every=every)
        with together:
            assert seen.steps == expected
            assert seen.outcome.status == "budget"
            assert seen.outcome.steps == steps
            told = [record for _, record in seen.watched if record is not None]
            assert told == expected
            np.testing.assert_array_equal(seen.outcome.solution, 1 - 0.5**steps)
    everywhere(comm, together, seen.outcome.records)


@pytest.mark.parametrize("every", [0, 50])
def test_seconds_stop_all_agents_at_the_same_step(comm, loop, together, every):
    seen = loop(slow_on_last(comm), every=every, seconds=0.2)
    steps = everywhere(comm, together, (seen.outcome.steps, seen.steps))[0]
    with together:
        assert seen.outcome.status == "budget"
        assert 0.2 <= seen.told("seconds")[-1] < 2
        assert 1 < steps <= 120
        assert seen.steps[-1] == steps
        assert len(seen.steps) == (2 if every == 0 else 1 + -(-steps // every))


def test_agreements_come_at_the_same_steps_although_clocks_differ(comm, loop, together):
    seen = loop(slow_on_last(comm), every=0, steps=100)
    watched = everywhere(comm, together, seen.watched)
    with together:
        assert watched[-1] == (100, 100)
        assert 3 <= len(watched) < 50, "some 50 ms apart, of 0.2 s or more"


def test_a_method_of_short_steps_does_not_pay_for_agreements(comm, loop, together):
    seen = loop(Walk(step_size=1e-5), every=0, steps=20_000)
    watched = everywhere(comm, together, seen.watched)
    with together:
        assert len(watched) < 200


@pytest.mark.parametrize("every", [1, 3])
def test_converged_at_the_first_record_below_the_target(comm, loop, together, every):
    seen = loop(Walk(), every=every, relative_suboptimality=1e-6)
    everywhere(comm, together, seen.steps)
    relative = seen.told("relative_suboptimality")
    with together:
        assert seen.outcome.status == "converged"
        assert relative[0] == 1.0
        assert relative[-1] <= 1e-6 < relative[-2]
        # A step halves the distance: 0.25^k ≤ 1e-6 from k = 10 on.
        assert seen.outcome.steps == {1: 10, 3: 12}[every]


@pytest.mark.parametrize(("steps", "status"), [(9, "budget"), (12, "converged")])
def test_the_last_step_is_judged_whatever_the_cadence(loop, together, steps, status):
    seen = loop(Walk(), steps=steps, every=0, relative_suboptimality=1e-6)
    with together:
        assert seen.outcome.status == status
        assert seen.steps == [0, steps]


def test_a_target_without_a_minimiser_is_never_reached(loop, together):
    seen = loop(Walk(), steps=40, relative_suboptimality=1e-1, reference=False)
    with together:
        assert seen.outcome.status == "budget"
        assert seen.outcome.steps == 40
        assert set(seen.told("relative_suboptimality")) == {None}
        assert set(seen.told("suboptimality")) == {None}


def test_epsilon_is_an_accuracy_of_F_itself(comm, loop, together):
    seen = loop(Walk(), epsilon=1e-3)
    everywhere(comm, together, seen.steps)
    values = seen.told("suboptimality")
    with together:
        assert seen.outcome.status == "converged"
        assert values[-1] <= 1e-3 < values[-2]


def test_a_small_gradient_mapping_stops_without_a_minimiser(comm, loop, together):
    seen = loop(Walk(), reference=False, gradient_mapping=1e-3)
    everywhere(comm, together, seen.steps)
    values = seen.told("gradient_mapping")
    with together:
        assert seen.outcome.status == "converged"
        # Of f(x) = ½‖x − 1‖² without psi it is ‖x − 1‖; a step halves that.
        expected = np.sqrt(D) * 0.5 ** np.array(seen.steps)
        np.testing.assert_allclose(values, expected, rtol=1e-12)
        assert values[-1] <= 1e-3 < values[-2]


def test_wall_seconds_count_evaluations_too(comm, loop, together):
    seen = loop(Walk(), Spring(value_seconds=0.02), wall_seconds=0.2)
    everywhere(comm, together, seen.outcome.steps)
    with together:
        assert seen.outcome.status == "budget"
        assert 1 <= seen.outcome.steps <= 10
        assert seen.told("seconds")[-1] < 0.1


@pytest.mark.parametrize("reference", [True, False])
def test_far_above_the_start_is_divergence(comm, loop, together, reference):
    seen = loop(Walk(step_size=11.0), reference=reference)
    everywhere(comm, together, seen.steps)
    values = seen.told("objective")
    start = values[0] if reference else 1 + values[0]
    with together:
        assert seen.outcome.status == "diverged"
        assert values[-1] > FAR_ABOVE_START * start >= values[-2]
        # A step makes the distance ten times as large: 100^k > 1e6 from k = 4 on.
        assert seen.outcome.steps == 4


def test_what_is_not_finite_is_found_without_an_evaluation(comm, loop, together):
    seen = loop(Walk(step_size=1e30), every=0)
    steps = everywhere(comm, together, seen.outcome.steps)
    with together:
        assert seen.outcome.status == "diverged"
        assert 11 <= steps < NEVER
        assert seen.steps == [0, steps]
        assert not np.isfinite(seen.told("objective")[-1])


@pytest.mark.parametrize("every", [0, 2])
def test_one_agent_that_is_not_finite_ends_the_run_for_all(comm, loop, together, every):
    last = comm.rank == comm.size - 1
    seen = loop(replace(slow_on_last(comm), nan_at=5 if last else -1), every=every)
    steps = everywhere(comm, together, seen.outcome.steps)
    with together:
        assert seen.outcome.status == "diverged"
        assert 5 <= steps < 100
        assert np.isnan(seen.outcome.solution).any() == last


def test_evaluation_is_not_on_the_clock(loop, together):
    seen = loop(Walk(mixes=True), Spring(value_seconds=0.05), steps=5)
    with together:
        assert seen.told("seconds")[-1] < 0.2
        assert seen.evaluator.evaluation.seconds >= 6 * 0.05


def test_an_agent_that_is_slow_to_evaluate_or_to_watch_slows_no_clock(
    comm, loop, together
):
    """The others would wait for its messages with their clocks running."""
    slow = comm.rank == 0
    seen = loop(
        Walk(mixes=True),
        Spring(value_seconds=0.03 if slow else 0.0),
        steps=6,
        watch_seconds=0.05 if slow else 0.0,
    )
    with together:
        assert seen.told("seconds")[-1] < 0.2


def test_seconds_are_the_slowest_agents_and_the_rest_a_mean(comm, loop, together):
    seen = loop(slow_on_last(comm), steps=20, every=0)
    last = seen.outcome.records[-1]
    clocks = comm.allgather(seen.evaluator.clock.seconds)
    with together:
        assert last["seconds"] == max(clocks) >= 0.04
        assert last["compute_seconds"] == pytest.approx(np.mean(clocks))
        assert last["comm_seconds"] == 0
        assert last["gradients"] == 40
