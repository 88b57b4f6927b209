"""The loop: steps, evaluations, and the decision to stop, which all agents share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.agent import Agent
from pmgt_mpi.algorithms.base import Algorithm
from pmgt_mpi.checkpoints.policy import Agreement, Unsaved
from pmgt_mpi.clock import Clock
from pmgt_mpi.config.sections import StopSection
from pmgt_mpi.execution.evaluation import Evaluator
from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.output.results import Record

Array = NDArray[Any]

AGREE_EVERY = 0.05
"""Seconds between the points at which agents agree whether to continue: a method with
steps of microseconds must not pay for them."""


@dataclass
class Outcome:
    """How an algorithm ended: converged, budget, diverged or interrupted."""

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
    wall: Clock,
    evaluator: Evaluator,
    collective: Collective,
    steps: int,
    every: int,
    stop: StopSection,
    watch: Callable[[int, Record | None], None],
    hooks: Unsaved | None = None,
) -> Outcome:
    """Run one algorithm until it is done.

    Parameters
    ----------
    algorithm, agent, x0
        What runs, with all parameters numbers.
    clock, wall
        The one runs during `init` and `step` only, the other all the time.
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
    hooks
        Where to continue from, when to write a checkpoint, and who asks for an end.
    """
    hooks = hooks or Unsaved()
    records: list[Record] = []

    def agree(x: Array) -> Agreement:
        hooks.doing = "an agreement"
        return _agree(collective, (clock.seconds, wall.read()), x, hooks)

    def evaluate(step: int) -> Record:
        hooks.doing = "an evaluation"
        record = evaluator.record(step, algorithm.solution(state))
        records.append(record)
        return record

    # A diverging run overflows; it is found below, and is no reason for warnings.
    with wall, np.errstate(over="ignore", invalid="ignore"):
        with clock:
            state = algorithm.init(agent, x0)
        step, status = 0, "budget"
        if (resumed := hooks.restore(state)) is not None:
            step, state, record = resumed
            records.append(record)
        else:
            watch(0, evaluate(0))
        next_agreement, hooks.step = step + 1, step
        agreement = agree(x0)
        if step < steps and hooks.act_on(agreement, step, state, records[-1]):
            status, steps = "interrupted", step
        hooks.doing = ""
        while step < steps:
            with clock:
                state = algorithm.step(agent, state)
            hooks.step = step = step + 1
            due = step == steps or (every > 0 and step % every == 0)
            if not due and step < next_agreement and not hooks.due(step):
                continue
            new = evaluate(step) if due else None
            watch(step, new)
            agreement = agree(algorithm.solution(state))
            recovers = step < steps and may_recover(algorithm, state)
            verdict = _verdict(agreement, evaluator, new, stop, recovers)
            if verdict is not None:
                status = verdict
                break
            if hooks.act_on(agreement, step, state, records[-1]) and step < steps:
                status = "interrupted"
                break
            hooks.doing = ""
            next_agreement = step + max(1, int(AGREE_EVERY * step / agreement.seconds))
        if records[-1]["step"] != step and status != "interrupted":
            watch(step, evaluate(step))
        if status != "interrupted":
            hooks.note_end(step, state, records[-1])
    return Outcome(status, step, state, algorithm.solution(state), records)


def _agree(
    collective: Collective, clocks: tuple[float, float], x: Array, hooks: Unsaved
) -> Agreement:
    """Tell all agents what each must know of the others: five numbers, one reduction.

    Parameters
    ----------
    clocks, x, hooks
        This agent's clocks, its iterate, and who knows of checkpoints and signals.
    """
    save, reason = hooks.requests()
    own = [*clocks, not np.isfinite(x).all(), save, reason is not None]
    largest = collective.max(np.array(own, np.float64))
    seconds, wall_seconds, infinite, wanted, ended = largest.tolist()
    if ended:
        reason = collective.first_word(reason)
    return Agreement(seconds, wall_seconds, not infinite, bool(wanted), reason)


def may_recover(algorithm: Algorithm, state: Any) -> bool:
    """Whether a guard looks after a run that has left for infinity."""
    recovers: Callable[[Any], bool] | None = getattr(algorithm, "recovers", None)
    return recovers is not None and recovers(state)


def _verdict(
    agreement: Agreement,
    evaluator: Evaluator,
    record: Record | None,
    stop: StopSection,
    recovers: bool,
) -> str | None:
    """Say how the run ends here, if it does; the same on every agent."""
    seen = record is not None and evaluator.diverged(record)
    diverged = seen or not agreement.finite
    if diverged and not recovers:
        return "diverged"
    if record is not None and not diverged and _reached(record, stop):
        return "converged"
    limits = (
        (agreement.seconds, stop.seconds),
        (agreement.wall_seconds, stop.wall_seconds),
    )
    if any(limit is not None and taken >= limit for taken, limit in limits):
        return "diverged" if diverged else "budget"
    return None


def _reached(record: Record, stop: StopSection) -> bool:
    """Whether one of the values at which a run has converged is reached."""
    targets = (
        (record["relative_suboptimality"], stop.relative_suboptimality),
        (record["suboptimality"], stop.epsilon),
        (record.get("gradient_mapping"), stop.gradient_mapping),
    )
    return any(
        target is not None and value is not None and value <= target
        for value, target in targets
    )
