"""PMGT-LSVRG: loopless SVRG with gradient tracking and multi-consensus."""

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
NAME = "pmgt-lsvrg"


@dataclass(frozen=True)
class State:
    """Variables of one agent: tracker s, estimate v, snapshot w with μ = ∇f_i(w)."""

    x: Array
    s: Array
    v: Array
    w: Array
    mu: Array


@dataclass(frozen=True, kw_only=True)
class PMGTLSVRG:
    r"""PMGT-LSVRG (Ye, Xiong and Zhang 2020): their SVRG, which has no loop.

    One step is one iteration::

        x^{k+1} = FastMix(prox_η(x^k − η s^k), M)
        v^{k+1} = μ + (1/b) Σ_{j ∈ B} (∇f_ij(x^{k+1}) − ∇f_ij(w))
        s^{k+1} = FastMix(s^k + v^{k+1} − v^k, M)
        w = x^{k+1}, μ = ∇f_i(w)  with probability p

    with w = x^0, v^0 = μ = ∇f_i(x^0) and s^0 = FastMix(v^0, M). The coin is one for the
    whole network: all agents draw it from the same stream, without a message, so that
    none waits for another's full gradient.

    Parameters
    ----------
    batch_size
        b; 1 in the paper.
    probability
        p, of a full gradient in a step; ``auto`` is b/n.
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
        cost=Cost(gradients="2*b + n*C", paper="b + n*C", rounds="2*M"),
        proximal=True,
        convex="components",
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
        """w = x0, v = μ = ∇f_i(x0), and s mixes it."""
        g = agent.grad(x0)
        return State(x=x0, s=agent.mix(g, self.mix_rounds), v=g, w=x0, mu=g)

    def step(self, agent: Agent, k: State) -> State:
        """One iteration."""
        eta, M = self.step_size, self.mix_rounds
        x = agent.mix(agent.prox(k.x - eta * k.s, eta), M)
        B = agent.minibatch(self.batch_size)
        v = k.mu + agent.grad_difference(x, k.w, B)
        s = agent.mix(k.s + v - k.v, M)
        w, mu = k.w, k.mu
        if agent.coin(self.probability):
            w, mu = x, agent.grad(x)
        return State(x=x, s=s, v=v, w=w, mu=mu)

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
