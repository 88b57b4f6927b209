"""The loop: steps, evaluations, and the decision to stop, which all agents share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.agent import Agent
from pmgt_mpi.algorithms.base import Algorithm
from pmgt_mpi.collective import Collective
from pmgt_mpi.runtime.clock import Clock
from pmgt_mpi.runtime.evaluation import Evaluator, Record
from pmgt_mpi.runtime.plan import Stop

Array = NDArray[Any]

AGREE_EVERY = 0.05
"""Seconds between the points at which agents agree whether to go on: a method with
steps of microseconds must not pay for them."""


@dataclass
class Outcome:
    """How one algorithm ended: ``converged``, ``budget`` or ``diverged``."""

    status: str
    steps: int
    state: Any
    solution: Array
    records: list[Record]


def run_loop(
    algorithm: Algorithm,
    agent: Agent,
    x0: Array,
    *,
    clock: Clock,
    evaluator: Evaluator,
    collective: Collective,
    steps: int,
    every: int,
    stop: Stop,
    watch: Callable[[int, Record | None], None],
) -> Outcome:
    """Run one algorithm until it is done.

    Parameters
    ----------
    algorithm, agent, x0
        What runs, with all parameters numbers.
    clock
        Runs during `init` and `step` only.
    evaluator
        Looks at the iterates between steps.
    collective
        For the agreement to stop.
    steps, every
        Budget, and the steps between evaluations; 0 is only at the start and the end.
    stop
        Further reasons to stop.
    watch
        Called before each agreement with the step and, if there is one, a new record.
        All wait there for an agent that is slow to watch: no clock runs meanwhile.
    """
    records: list[Record] = []

    def evaluate(step: int) -> Record:
        record = evaluator.record(step, algorithm.solution(state))
        records.append(record)
        return record

    # A diverging run overflows; it is found below, and is no reason for warnings.
    with np.errstate(over="ignore", invalid="ignore"):
        with clock:
            state = algorithm.init(agent, x0)
        watch(0, evaluate(0))
        collective.comm.Barrier()
        step, next_agreement, status = 0, 1, "budget"
        while step < steps:
            with clock:
                state = algorithm.step(agent, state)
            step += 1
            due = step == steps or (every > 0 and step % every == 0)
            if not due and step < next_agreement:
                continue
            record = evaluate(step) if due else None
            watch(step, record)
            verdict, seconds = _agree(
                collective, evaluator, clock, algorithm.solution(state), record, stop
            )
            if verdict is not None:
                status = verdict
                break
            next_agreement = step + max(1, int(AGREE_EVERY * step / seconds))
        if records[-1]["step"] != step:
            watch(step, evaluate(step))
    return Outcome(status, step, state, algorithm.solution(state), records)


def _agree(
    collective: Collective,
    evaluator: Evaluator,
    clock: Clock,
    x: Array,
    record: Record | None,
    stop: Stop,
) -> tuple[str | None, float]:
    """Agree whether to stop, and why; give the largest clock too."""
    words = collective.gather((clock.seconds, bool(np.isfinite(x).all())))
    seconds = max(word[0] for word in words)
    finite = all(word[1] for word in words)
    if not finite or (record is not None and evaluator.diverged(record)):
        return "diverged", seconds
    if record is not None and stop.relative_suboptimality is not None:
        relative = record["relative_suboptimality"]
        if relative is not None and relative <= stop.relative_suboptimality:
            return "converged", seconds
    if stop.seconds is not None and seconds >= stop.seconds:
        return "budget", seconds
    return None, seconds
