"""PMGT-SAGA: SAGA with gradient tracking and multi-consensus."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from numpy.typing import NDArray

from pmgt_mpi.agent import Agent
from pmgt_mpi.algorithms.base import Setting
from pmgt_mpi.algorithms.svrg_parameters import resolve_rounds, resolve_step
from pmgt_mpi.algorithms.traits import Cost, Traits
from pmgt_mpi.algorithms.watching import mapping
from pmgt_mpi.options import AUTO, SECTION, SQRT, AutoMixRounds, AutoStep, BatchSize

Array = NDArray[Any]
NAME = "pmgt-saga"


@dataclass(frozen=True)
class State:
    """Variables of one agent: tracker s, estimate v; `table`, `mean` are SAGA's."""

    x: Array
    s: Array
    v: Array
    table: Array
    mean: Array


@dataclass(frozen=True, kw_only=True)
class PMGTSAGA:
    r"""PMGT-SAGA (Ye, Xiong and Zhang 2020).

    One step is one iteration, with v^k SAGA's estimate of ∇f_i(x^k) from b rows
    (`Agent.saga`)::

        x^{k+1} = FastMix(prox_η(x^k − η s^k), M)
        s^{k+1} = FastMix(s^k + v^{k+1} − v^k, M)

    with v^0 = ∇f_i(x^0) and s^0 = FastMix(v^0, M).

    Parameters
    ----------
    batch_size
        b; 1 in the paper.
    step_size
        η; ``auto`` is that of PMGT-SVRG.
    mix_rounds
        M; by default that of the [mixing] section.

    References
    ----------
    H. Ye, W. Xiong and T. Zhang, "PMGT-VR: A decentralized proximal-gradient
    algorithmic framework with variance reduction", 2020.
    """

    traits: ClassVar[Traits] = Traits(
        source="Ye, Xiong and Zhang 2020",
        cost=Cost(gradients="b", paper="b", rounds="2*M"),
        proximal=True,
        remembers=True,
        convex="components",
        psd=True,
        guarded=(
            "mix_rounds",
            "step_size",
        ),
    )

    batch_size: BatchSize = SQRT
    step_size: AutoStep = AUTO
    mix_rounds: AutoMixRounds = SECTION

    def init(self, agent: Agent, x0: Array) -> State:
        """v = ∇f_i(x0), of the rows' gradients that are remembered; s mixes it."""
        g, table, mean = agent.remember(x0)
        s = agent.mix(g, self.mix_rounds)
        return State(x=x0, s=s, v=g, table=table, mean=mean)

    def step(self, agent: Agent, k: State) -> State:
        """One iteration."""
        eta, M = self.step_size, self.mix_rounds
        x = agent.mix(agent.prox(k.x - eta * k.s, eta), M)
        B = agent.minibatch(self.batch_size)
        v, mean = agent.saga(x, B, k.table, k.mean)
        s = agent.mix(k.s + v - k.v, M)
        return State(x=x, s=s, v=v, table=k.table, mean=mean)

    def solution(self, state: State) -> Array:
        """x."""
        return state.x

    def watched(self, agent: Agent, before: State, after: State) -> float:  # noqa: ARG002
        """The gradient mapping, of the tracked gradient."""
        return mapping(agent, after.x, after.s, self.step_size)

    def resolve(self, setting: Setting) -> Self:
        """b, η for it, and M that keeps the agents together."""
        b = setting.batch_size(NAME, self.batch_size)
        eta = resolve_step(NAME, self.step_size, setting, b)
        M = resolve_rounds(NAME, self.mix_rounds, setting, eta)
        return replace(self, batch_size=b, step_size=eta, mix_rounds=M)
