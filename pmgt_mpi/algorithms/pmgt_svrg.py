"""PMGT-SVRG: SVRG with gradient tracking and multi-consensus."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil, log1p, sqrt
from typing import Any, ClassVar, Self

from numpy.typing import NDArray

from pmgt_mpi.agent import Agent
from pmgt_mpi.algorithms.base import Setting
from pmgt_mpi.algorithms.svrg_parameters import (
    as_in_theory,
    resolve_rounds,
    theory_J,
    tuned_contraction,
    tuned_step,
)
from pmgt_mpi.algorithms.traits import Cost, Traits
from pmgt_mpi.algorithms.watching import mapping
from pmgt_mpi.options import AUTO, SECTION, AutoBatchSize, MixRounds, StepSize

Array = NDArray[Any]
NAME = "pmgt-svrg"


@dataclass(frozen=True)
class State:
    """Variables of one agent after k epochs; `x` is the last snapshot w^0."""

    x: Array
    y: Array
    s_hat: Array
    grad_x: Array


@dataclass(frozen=True, kw_only=True)
class PMGTSVRG:
    r"""PMGT-SVRG with minibatches and epochs (Liu and Low 2024, Algorithm 3).

    One step is one epoch::

        x^{k+1} = FastMix(y^k, M)
        ŝ^{k+1} = FastMix(ŝ^k + ∇f_i(x^{k+1}) − ∇f_i(x^k), M)
        w^0 = x^{k+1},   s^{−1} = v^{−1} = μ = ŝ^{k+1},   T ~ Geom(1/t0), t0 = ⌈n/b⌉
        for t = 0, …, T:
            v^t = μ + (1/b) Σ_{j ∈ B^t} (∇f_ij(w^t) − ∇f_ij(w^0))
            s^t = FastMix(s^{t−1} + v^t − v^{t−1}, M)
            w^{t+1} = FastMix(prox_η(w^t − η s^t), M)
        y^{k+1} = w^{T+1}

    The paper prints both w^0 = FastMix(y^k) and w^0 = y^k. The estimate v is unbiased
    only if μ tracks the gradient at the very w^0 that is used, so y^k is mixed first,
    and the gradient is taken at the mixed point.

    Cost of a step, T+1 = t0 on average: n_i + 2b(T+1) component gradients (the paper
    counts n_i + b(T+1)) and (2(T+1) + 2) M rounds.

    Parameters
    ----------
    batch_size
        b; ``"sqrt"`` is √n, the choice of Corollary 1. ``"auto"`` is the b for which
        `predicted_cost` is least, with the step size and rounds that it gets.
    step_size
        η.
    mix_rounds
        M; by default that of the [mixing] section.

    References
    ----------
    Z. Liu and B. K. H. Low, "Decentralized Sum-of-Nonconvex Optimization", AAAI 2024,
    after H. Ye, W. Xiong and T. Zhang, "PMGT-VR", 2020.
    """

    traits: ClassVar[Traits] = Traits(
        source="Liu and Low 2024",
        cost=Cost(
            gradients="n + 2*b*(T+1)", paper="n + b*(T+1)", rounds="(2*(T+1) + 2)*M"
        ),
        proximal=True,
        psd=True,
        guarded=(
            "mix_rounds",
            "step_size",
        ),
    )

    batch_size: AutoBatchSize = AUTO
    step_size: StepSize = AUTO
    mix_rounds: MixRounds = SECTION

    def init(self, agent: Agent, x0: Array) -> State:
        """x = y = x0; the tracker starts from the mixed local gradients."""
        g = agent.grad(x0)
        return State(x=x0, y=x0, s_hat=agent.mix(g, self.mix_rounds), grad_x=g)

    def step(self, agent: Agent, k: State) -> State:
        """One epoch of Algorithm 3."""
        b, eta, M = self.batch_size, self.step_size, self.mix_rounds
        x = agent.mix(k.y, M)
        g = agent.grad(x)
        s_hat = agent.mix(k.s_hat + g - k.grad_x, M)
        s = v = mu = s_hat
        w = w0 = x
        T = agent.geometric(1 / ceil(agent.n / b))
        for _ in range(T + 1):
            B = agent.minibatch(b)
            v_next = mu + agent.grad_difference(w, w0, B)
            s = agent.mix(s + v_next - v, M)
            v = v_next
            w = agent.mix(agent.prox(w - eta * s, eta), M)
        return State(x=x, y=w, s_hat=s_hat, grad_x=g)

    def solution(self, state: State) -> Array:
        """y, for which the paper bounds F(ȳ) − F*."""
        return state.y

    def watched(self, agent: Agent, before: State, after: State) -> float:  # noqa: ARG002
        """The gradient mapping, of the tracked gradient."""
        return mapping(agent, after.x, after.s_hat, self.step_size)

    def resolve(self, setting: Setting, name: str = NAME) -> Self:
        """η and M of the theorem on PMGT-SVRG, or values that work in practice."""
        batches = setting.batch_sizes(name, self.batch_size, self.step_size)
        choices = [self._with_batch(b, setting, name) for b in batches]
        if len(choices) == 1:
            return choices[0]
        return min(choices, key=lambda used: used.predicted_cost(setting))

    def _with_batch(self, b: int, setting: Setting, name: str) -> Self:
        """Return the method with this b, and numbers for the rest."""
        eta = tuned_step(name, self.step_size, setting, b)
        used = replace(self, batch_size=b, step_size=eta)
        rho = tuned_contraction(setting, eta, b)
        M = resolve_rounds(name, self.mix_rounds, setting, eta, used.theory_rho, rho)
        return replace(used, mix_rounds=M)

    def predicted_cost(self, setting: Setting) -> float:
        """Component gradients, a round as `round_cost` of them, for each factor of e.

        An epoch is t0 steps of η on average, each of which takes F − F* to 1 − 2ησ of
        what it was, and their number is geometric: 1/(1 + 2 t0 η σ) in all.
        """
        t0 = ceil(setting.n / self.batch_size)
        sigma = setting.convexity(NAME, "batch_size", "auto")
        epochs = 1 / log1p(2 * t0 * self.step_size * sigma)
        rounds = (2 * t0 + 2) * self.mix_rounds
        return epochs * (
            setting.n + 2 * self.batch_size * t0 + setting.round_cost() * rounds
        )

    def theory_rho(self, setting: Setting) -> float:
        """The contraction that the theorem (appendix) asks of FastMix."""
        b, eta, t0 = self.batch_size, self.step_size, ceil(setting.n / self.batch_size)
        sigma = setting.convexity(NAME, "mix_rounds", "theory")
        m, k, J = setting.agents, setting.steps, theory_J(NAME, setting, eta, b)
        growth = 9 * m * J * b / (sigma * t0)
        growth += 128 * k * m * J * b * (eta * t0 + 1 / sigma)
        return min(1 / sqrt(64 * b), 1 / sqrt(growth))

    def bound(self, setting: Setting) -> Callable[[int], float] | None:
        """E[F(ȳ^k) − F*] ≤ (2 + 1/(t0ησ)) (1 + t0ησ/4)^−k (F(ȳ^0) − F*).

        Of the paper's theorem on PMGT-SVRG (appendix).
        """
        if not as_in_theory(self, setting):
            return None
        t0 = ceil(setting.n / self.batch_size)
        sigma = setting.convexity(NAME, "step_size", self.step_size)
        rate = t0 * self.step_size * sigma
        return lambda k: (2 + 1 / rate) * (1 + rate / 4) ** -k
