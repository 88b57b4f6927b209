"""DEAREST: PAGE's estimates with gradient tracking and multi-consensus."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from numpy.typing import NDArray

from pmgt_mpi.agent import Agent
from pmgt_mpi.algorithms.base import Setting
from pmgt_mpi.algorithms.svrg_parameters import resolve_rounds, resolve_step
from pmgt_mpi.algorithms.traits import Cost, Traits
from pmgt_mpi.algorithms.watching import mapping
from pmgt_mpi.options import (
    AUTO,
    SECTION,
    SQRT,
    AutoMixRounds,
    AutoStep,
    BatchSize,
    Chance,
)

Array = NDArray[Any]
NAME = "dearest"


@dataclass(frozen=True)
class State:
    """Variables of one agent: the iterate, its tracker s and its estimate v."""

    x: Array
    s: Array
    v: Array


@dataclass(frozen=True, kw_only=True)
class DEAREST:
    r"""DEAREST (Luo and Ye 2022), made for nonconvex F, here with a proximal step.

    One step is one iteration::

        x^{k+1} = FastMix(prox_η(x^k − η s^k), M)
        v^{k+1} = ∇f_i(x^{k+1})  with probability p, else
        v^{k+1} = v^k + (1/b) Σ_{j ∈ B} (∇f_ij(x^{k+1}) − ∇f_ij(x^k))
        s^{k+1} = FastMix(s^k + v^{k+1} − v^k, M)

    with v^0 = ∇f_i(x^0) and s^0 = FastMix(v^0, M). The coin is one for the whole
    network: all agents draw it from the same stream, without a message.

    Parameters
    ----------
    batch_size
        b.
    probability
        p, of a full gradient in a step; ``auto`` is b/n.
    step_size
        η; ``auto`` is that of PMGT-SVRG.
    mix_rounds
        M; by default that of the [mixing] section.

    References
    ----------
    L. Luo and H. Ye, "An Optimal Stochastic Algorithm for Decentralized Nonconvex
    Finite-sum Optimization", 2022.
    """

    traits: ClassVar[Traits] = Traits(
        source="Luo and Ye 2022",
        cost=Cost(gradients="n if C else 2*b", paper="n if C else b", rounds="2*M"),
        proximal=True,
        psd=True,
        guarded=(
            "mix_rounds",
            "step_size",
        ),
    )

    batch_size: BatchSize = SQRT
    probability: Chance = AUTO
    step_size: AutoStep = AUTO
    mix_rounds: AutoMixRounds = SECTION

    def init(self, agent: Agent, x0: Array) -> State:
        """v = ∇f_i(x0), and s mixes it."""
        g = agent.grad(x0)
        return State(x=x0, s=agent.mix(g, self.mix_rounds), v=g)

    def step(self, agent: Agent, k: State) -> State:
        """One iteration."""
        eta, M = self.step_size, self.mix_rounds
        x = agent.mix(agent.prox(k.x - eta * k.s, eta), M)
        if agent.coin(self.probability):
            v = agent.grad(x)
        else:
            B = agent.minibatch(self.batch_size)
            v = k.v + agent.grad_difference(x, k.x, B)
        return State(x=x, s=agent.mix(k.s + v - k.v, M), v=v)

    def solution(self, state: State) -> Array:
        """x."""
        return state.x

    def watched(self, agent: Agent, before: State, after: State) -> float:  # noqa: ARG002
        """The gradient mapping, of the tracked gradient."""
        return mapping(agent, after.x, after.s, self.step_size)

    def resolve(self, setting: Setting) -> Self:
        """b, p = b/n, η for it, and M that keeps the agents together."""
        b = setting.batch_size(NAME, self.batch_size)
        eta = resolve_step(NAME, self.step_size, setting, b)
        M = resolve_rounds(NAME, self.mix_rounds, setting, eta)
        p = setting.probability(self.probability, b)
        return replace(self, batch_size=b, probability=p, step_size=eta, mix_rounds=M)
