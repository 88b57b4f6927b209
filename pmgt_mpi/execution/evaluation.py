"""Looking at a run from outside: objective, suboptimality, consensus and costs.

Evaluation uses collectives on a communicator of its own and the raw problem: it sends
nothing on the algorithm's communicator, counts no gradient and draws no random number.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.agent import Agent
from pmgt_mpi.clock import Clock
from pmgt_mpi.gossip.gossip import Gossip
from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.optimum.reference import MeanFunction, Reference, suboptimality
from pmgt_mpi.output.results import Record
from pmgt_mpi.problems.base import Problem
from pmgt_mpi.regularizers.base import Regularizer

Array = NDArray[Any]
FAR_ABOVE_START = 1e6
"""Multiple of the start's suboptimality that counts as divergence."""


class Objective:
    """F = f + psi of all agents together, for evaluation only.

    Parameters
    ----------
    collective
        All agents; every method is collective, at the same x.
    problem, regularizer, weight
        f_i of this agent, psi, and m n_i / N.
    reference
        The minimiser, where there is one.
    """

    def __init__(
        self,
        collective: Collective,
        problem: Problem,
        regularizer: Regularizer,
        weight: float,
        reference: Reference | None,
    ) -> None:
        self.collective = collective
        self._problem = problem
        self._regularizer = regularizer
        self._weight = weight
        self._reference = reference

    def value(self, x: Array) -> float:
        """F(x)."""
        f = MeanFunction(self._problem, self.collective, self._weight)
        return f.value(x) + self._regularizer.value(x)

    def value_and_mapping(self, x: Array) -> tuple[float, float]:
        """F(x) and ‖x − prox(x − ∇f(x))‖, which is zero at a minimiser alone."""
        f = MeanFunction(self._problem, self.collective, self._weight)
        value, gradient = f.value_and_grad(x)
        step = x - self._regularizer.prox(x - gradient, 1.0)
        return value + self._regularizer.value(x), float(np.linalg.norm(step))

    def figures(self, x: Array, value: float) -> Record:
        """What the problem has to tell beside F(x) = value."""
        if not hasattr(self._problem, "figures"):
            return {}
        x_star = None if self._reference is None else self._reference.x
        figures: Record = self._problem.figures(x, value, x_star)
        return figures

    def suboptimality(self, x: Array) -> float | None:
        """F(x) − F*, where F* is known."""
        if self._reference is None:
            return None
        return suboptimality(
            self._problem,
            self._regularizer,
            self.collective,
            self._weight,
            self._reference,
            x,
        )


class Evaluator:
    """Makes the records of one algorithm's run.

    Parameters
    ----------
    label
        Of the algorithm.
    objective
        F and F*.
    x0
        Where all algorithms start: the scale of the relative suboptimality.
    agent, gossip, clock
        Whose counts and seconds are told.
    theory_bound
        What the method's theorem promises after a number of steps; without it the
        records have no such key.
    with_mapping
        Whether the records tell the norm of the gradient mapping, for which f's
        gradient is needed.
    """

    def __init__(
        self,
        label: str,
        objective: Objective,
        x0: Array,
        agent: Agent,
        gossip: Gossip,
        clock: Clock,
        theory_bound: Callable[[int], float | None] | None = None,
        *,
        with_mapping: bool = False,
    ) -> None:
        self.label = label
        self.with_mapping = with_mapping
        self.theory_bound = theory_bound
        self.objective = objective
        self.agent = agent
        self.gossip = gossip
        self.clock = clock
        self.evaluation = Clock()
        self.start_value = objective.value(x0)
        self.start_suboptimality = objective.suboptimality(x0)

    def record(self, step: int, x: Array) -> Record:
        """Evaluate at the average of the agents' iterates; the same on every agent."""
        collective = self.objective.collective
        with self.evaluation:
            mean = collective.sum(x.astype(np.float64)) / collective.agents
            if self.with_mapping:
                value, mapping = self.objective.value_and_mapping(mean)
            else:
                value = self.objective.value(mean)
            excess = self.objective.suboptimality(mean)
            record = {
                "algorithm": self.label,
                "step": step,
                **self._costs(),
                "objective": value,
                "suboptimality": excess,
                "relative_suboptimality": self._relative(excess),
                "consensus": self._consensus(x, mean),
                **self.objective.figures(mean, value),
            }
            if self.with_mapping:
                record["gradient_mapping"] = mapping
            if self.theory_bound is not None:
                record["theory_bound"] = self.theory_bound(step)
            # Nobody's clock starts again while another agent still evaluates.
            collective.barrier()
        return record

    def diverged(self, record: Record) -> bool:
        """Whether a record is that of a run which has left for infinity."""
        value, relative = record["objective"], record["relative_suboptimality"]
        if not np.isfinite(value) or not np.isfinite(record["consensus"]):
            return True
        if relative is not None:
            return bool(relative > FAR_ABOVE_START)
        return bool(value > FAR_ABOVE_START * (1 + abs(self.start_value)))

    def _consensus(self, x: Array, mean: Array) -> float:
        """Mean of the agents' squared distances from their average."""
        collective = self.objective.collective
        distance = np.sum((x - mean) ** 2, dtype=np.float64)
        return float(collective.sum(distance)) / collective.agents

    def _relative(self, excess: float | None) -> float | None:
        if excess is None or not self.start_suboptimality:
            return excess
        return excess / self.start_suboptimality

    def _costs(self) -> Record:
        """Seconds are the slowest agent's; gradients and the split of time a mean."""
        collective, sent = self.objective.collective, self.gossip.sent
        m = collective.agents
        clocks = np.array([self.clock.seconds, self.gossip.seconds])
        own = [self.agent.gradients, self.agent.gradients_paper, *sent]
        largest = collective.max([self.clock.seconds, self.gossip.rounds])
        seconds, comm = collective.sum(clocks).tolist()
        gradients, paper, messages, nbytes = collective.sum(np.array(own)).tolist()
        return {
            "seconds": float(largest[0]),
            "compute_seconds": (seconds - comm) / m,
            "comm_seconds": comm / m,
            "gradients": gradients / m,
            "gradients_paper": paper / m,
            "rounds": int(largest[1]),
            "messages": messages,
            "bytes": nbytes,
        }
