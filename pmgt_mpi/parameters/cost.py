"""c: what a gossip round costs in component gradients, as it is measured on the ranks.

Rounds are those of the run: its graph, engine and form of messages, arrays of x's shape
and type; gradients are differences over minibatches of its own problem. Both are timed
on all ranks at once, from a barrier on, until the last has done its part: so the time
that ranks wait for each other, or for a core, is in it. Nothing of this is counted.

c is rounded to a power of two. Which one it is can differ from one start of a run to
the next where it lies between two, or where the machine is busy: a config that gives
the number does not measure.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, isqrt, log2
from time import perf_counter
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.config.schema import Config
from pmgt_mpi.errors import UserError
from pmgt_mpi.gossip.gossip import Gossip
from pmgt_mpi.gossip.server import gossip_for
from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.parameters.facts import Engine, RunFacts
from pmgt_mpi.problems.base import Problem

Array = NDArray[Any]

ROUNDS = 8
"""Of one mix that is timed."""

BATCHES = 16
"""Minibatches that take turns, so that their rows are not all in the cache."""

WINDOW = 2e-3
"""Seconds, about, for which something is repeated."""

WINDOWS = 3
"""The least of which counts: what else the machine does can only make them longer."""

MOST = 1000
"""Repetitions in a window."""

ALONE = 1.0
"""c of one agent, who has no rounds: what an inner step costs beside its gradients."""


class RoundCost:
    """c as the config gives it, or measured when the first method asks for it.

    Attributes
    ----------
    value
        The number, or ``auto`` as long as nobody has asked.
    """

    def __init__(
        self, value: float | Literal["auto"], measure: Callable[[], float]
    ) -> None:
        self.value = value
        self._measure = measure

    def __call__(self) -> float:
        """Return c; the first time, where it is to be measured, on all agents."""
        if self.value == "auto":
            self.value = self._measure()
        return self.value


def unmeasured() -> float:
    """Stand for a measurement where the agents are not together."""
    raise UserError(
        "[cost] round_in_gradients = 'auto' is measured at the start of a run; give a "
        "number here"
    )


def measured_in_run(config: Config, facts: RunFacts, engine: Engine) -> float:
    """Measure c as a run will have it; collective."""
    if facts.collective.agents == 1:
        return ALONE
    comm = facts.comm.Dup()
    gossip = gossip_for(
        comm,
        facts.neighbourhood,
        config.mixing_of(config.algorithm[0]),
        engine.exchange(config.network.exchange),
    )
    problem = engine.problem(facts.problem)
    c = measured_cost(gossip, problem, facts.x0, facts.collective)
    gossip.close()
    comm.Free()
    return c


def measured_cost(
    gossip: Gossip, problem: Problem, x: Array, collective: Collective, wire: float = 0
) -> float:
    """Return c, a power of two from 1 on; collective.

    Parameters
    ----------
    gossip, problem, x
        What mixes, what is differentiated, and where.
    wire
        Seconds of a round that are not in those here.
    """
    mix = seconds_of(lambda: gossip.mix(x, ROUNDS), collective) / ROUNDS
    b = max(1, isqrt(problem.rows))
    gradient = seconds_of(differences(problem, x, b), collective) / (2 * b)
    return float(2 ** max(0, round(log2((mix + wire) / gradient))))


def differences(problem: Any, x: Array, b: int) -> Callable[[], Any]:
    """Return what computes the difference of two minibatch gradients, 2b in all."""
    draw = np.random.default_rng(0).integers
    batches = [draw(0, problem.rows, b) for _ in range(BATCHES)]
    number = 0

    def compute() -> None:
        nonlocal number
        number = (number + 1) % BATCHES
        rows = batches[number]
        if hasattr(problem, "minibatch_difference"):
            problem.minibatch_difference(x, x, rows)
        else:
            problem.minibatch_grad(x, rows)
            problem.minibatch_grad(x, rows)

    return compute


def seconds_of(work: Callable[[], Any], collective: Collective) -> float:
    """Seconds of what all agents do at the same time, until the last has done it."""

    def window(times: int) -> float:
        collective.barrier()
        start = perf_counter()
        for _ in range(times):
            work()
        took = np.array((perf_counter() - start) / times)
        return max(float(collective.max(took)), 1e-9)

    window(1)  # makes buffers and requests
    times = min(max(1, ceil(WINDOW / window(2))), MOST)
    return min(window(times) for _ in range(WINDOWS))
