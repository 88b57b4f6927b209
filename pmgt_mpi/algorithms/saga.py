"""SAGA, on a single machine."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from numpy.typing import NDArray

from pmgt_mpi.agent import Agent
from pmgt_mpi.algorithms.base import Setting
from pmgt_mpi.algorithms.svrg_parameters import resolve_step
from pmgt_mpi.algorithms.traits import Cost, Traits
from pmgt_mpi.options import AUTO, SQRT, BatchSize, StepSize

Array = NDArray[Any]
NAME = "saga"


@dataclass(frozen=True)
class State:
    """The iterate; `table`, `mean` are SAGA's."""

    x: Array
    table: Array
    mean: Array


@dataclass(frozen=True, kw_only=True)
class SAGA:
    r"""SAGA with a proximal step (Defazio, Bach and Lacoste-Julien 2014).

    One step is one iteration, with v^k SAGA's estimate of ∇f(x^k) from b rows
    (`Agent.saga`)::

        x^{k+1} = prox_η(x^k − η v^k)

    Parameters
    ----------
    batch_size
        b; 1 in the paper.
    step_size
        η; ``theory`` is 1/(3 l1), of the paper's Theorem 1 for convex components and
        b = 1; ``auto`` is that of PMGT-SAGA.

    References
    ----------
    A. Defazio, F. Bach and S. Lacoste-Julien, "SAGA: A Fast Incremental Gradient Method
    With Support for Non-Strongly Convex Composite Objectives", NeurIPS 2014.
    """

    traits: ClassVar[Traits] = Traits(
        source="Defazio, Bach and Lacoste-Julien 2014",
        cost=Cost(gradients="b", paper="b", rounds="0"),
        proximal=True,
        alone=True,
        instead="pmgt-saga",
        remembers=True,
        convex="components",
    )

    batch_size: BatchSize = SQRT
    step_size: StepSize = AUTO

    def init(self, agent: Agent, x0: Array) -> State:
        """The rows' gradients at x0 are remembered."""
        _, table, mean = agent.remember(x0)
        return State(x=x0, table=table, mean=mean)

    def step(self, agent: Agent, k: State) -> State:
        """One iteration."""
        eta = self.step_size
        B = agent.minibatch(self.batch_size)
        v, mean = agent.saga(k.x, B, k.table, k.mean)
        return State(x=agent.prox(k.x - eta * v, eta), table=k.table, mean=mean)

    def solution(self, state: State) -> Array:
        """x."""
        return state.x

    def resolve(self, setting: Setting) -> Self:
        """b, and η for it."""
        b = setting.batch_size(NAME, self.batch_size)
        if str(self.step_size) == "theory":
            l1 = setting.needed_curvature(NAME, "step_size", "theory").l1
            return replace(self, batch_size=b, step_size=1 / (3 * l1))
        eta = resolve_step(NAME, self.step_size, setting, b)
        return replace(self, batch_size=b, step_size=eta)
