"""PMGT-KatyushaX: accelerated SVRG with gradient tracking and multi-consensus."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil, sqrt
from typing import Any, ClassVar, Self

from numpy.typing import NDArray

from pmgt_mpi.agent import Agent
from pmgt_mpi.algorithms.base import Setting
from pmgt_mpi.algorithms.svrg_parameters import (
    as_in_theory,
    resolve_momentum,
    resolve_rounds,
    theory_J,
    tuned_contraction,
    tuned_step,
)
from pmgt_mpi.algorithms.traits import Cost, Traits
from pmgt_mpi.algorithms.watching import mapping
from pmgt_mpi.options import (
    AUTO,
    SECTION,
    AutoBatchSize,
    MixRounds,
    Momentum,
    StepSize,
)

Array = NDArray[Any]
NAME = "pmgt-katyushax"


@dataclass(frozen=True)
class State:
    """Variables of one agent after k epochs, in the paper's letters."""

    x: Array
    y: Array
    q: Array
    s_hat: Array
    grad_x: Array


@dataclass(frozen=True, kw_only=True)
class PMGTKatyushaX:
    r"""PMGT-KatyushaX (Liu and Low 2024, Algorithm 1), for sums of nonconvex f_ij.

    One step is one epoch::

        x^{k+1} = FastMix(τ q^k + (1 − τ) y^k, M)
        ŝ^{k+1} = FastMix(ŝ^k + ∇f_i(x^{k+1}) − ∇f_i(x^k), M)
        w^0 = x^{k+1},   s^{−1} = v^{−1} = μ = ŝ^{k+1},   T ~ Geom(1/t0), t0 = ⌈n/b⌉
        for t = 0, …, T:
            v^t = μ + (1/b) Σ_{j ∈ B^t} (∇f_ij(w^t) − ∇f_ij(w^0))
            s^t = FastMix(s^{t−1} + v^t − v^{t−1}, M)
            w^{t+1} = FastMix(prox_η(w^t − η s^t), M)
        y^{k+1} = w^{T+1}
        q^{k+1} = FastMix((q^k + τ/2 y^{k+1} − (x^{k+1} − y^{k+1})/(2τ))/(1 + τ/2), M)

    The paper starts from ŝ^0 = ∇F(x^0), which no agent knows; its proof needs only
    that the mean of ŝ^0 is the mean of ∇f_i(x^0), so ŝ^0 = FastMix(∇f_i(x^0), M).

    Cost of a step, T+1 = t0 on average: n_i + 2b(T+1) component gradients (the paper
    counts n_i + b(T+1)) and (2(T+1) + 3) M rounds.

    Parameters
    ----------
    batch_size
        b; ``"sqrt"`` is √n, the choice of Corollary 1. ``"auto"`` is the b for which
        `predicted_cost` is least, with the step size, momentum and rounds that it gets.
    step_size
        η.
    momentum
        τ.
    mix_rounds
        M; by default that of the [mixing] section.

    References
    ----------
    Z. Liu and B. K. H. Low, "Decentralized Sum-of-Nonconvex Optimization", AAAI 2024.
    """

    traits: ClassVar[Traits] = Traits(
        source="Liu and Low 2024",
        cost=Cost(
            gradients="n + 2*b*(T+1)", paper="n + b*(T+1)", rounds="(2*(T+1) + 3)*M"
        ),
        proximal=True,
        psd=True,
        guarded=(
            "mix_rounds",
            "step_size",
            "momentum",
        ),
    )

    batch_size: AutoBatchSize = AUTO
    step_size: StepSize = AUTO
    momentum: Momentum = AUTO
    mix_rounds: MixRounds = SECTION

    def init(self, agent: Agent, x0: Array) -> State:
        """x = y = q = x0; the tracker starts from the mixed local gradients."""
        g = agent.grad(x0)
        return State(x=x0, y=x0, q=x0, s_hat=agent.mix(g, self.mix_rounds), grad_x=g)

    def step(self, agent: Agent, k: State) -> State:
        """One epoch: lines 3 to 16 of Algorithm 1."""
        b, eta, tau = self.batch_size, self.step_size, self.momentum
        M = self.mix_rounds
        x = agent.mix(tau * k.q + (1 - tau) * k.y, M)
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
        y = w
        q = agent.mix((k.q + tau / 2 * y - (x - y) / (2 * tau)) / (1 + tau / 2), M)
        return State(x=x, y=y, q=q, s_hat=s_hat, grad_x=g)

    def solution(self, state: State) -> Array:
        """y, for which the paper bounds F(ȳ) − F*."""
        return state.y

    def watched(self, agent: Agent, before: State, after: State) -> float:  # noqa: ARG002
        """The gradient mapping, of the tracked gradient."""
        return mapping(agent, after.x, after.s_hat, self.step_size)

    def resolve(self, setting: Setting, name: str = NAME) -> Self:
        """η, τ and M of Theorem 2 (``theory``), or values that work in practice."""
        batches = setting.batch_sizes(name, self.batch_size, self.step_size)
        choices = [self._with_batch(b, setting, name) for b in batches]
        if len(choices) == 1:
            return choices[0]
        return min(choices, key=lambda used: used.predicted_cost(setting))

    def _with_batch(self, b: int, setting: Setting, name: str) -> Self:
        """Return the method with this b, and numbers for the rest."""
        eta = tuned_step(name, self.step_size, setting, b)
        tau = resolve_momentum(name, self.momentum, setting, eta, b)
        used = replace(self, batch_size=b, step_size=eta, momentum=tau)
        rho = tuned_contraction(setting, eta, b)
        M = resolve_rounds(name, self.mix_rounds, setting, eta, used.theory_rho, rho)
        return replace(used, mix_rounds=M)

    def predicted_cost(self, setting: Setting) -> float:
        """Component gradients, a round as `round_cost` of them, for each factor of e.

        An epoch takes F − F* to about 1 − 1/(0.35 + 0.7/√(t0 η σ)) of what it was.
        """
        t0 = ceil(setting.n / self.batch_size)
        sigma = setting.convexity(NAME, "batch_size", "auto")
        epochs = 0.35 + 0.7 / sqrt(t0 * self.step_size * sigma)
        rounds = (2 * t0 + 3) * self.mix_rounds
        return epochs * (
            setting.n + 2 * self.batch_size * t0 + setting.round_cost() * rounds
        )

    def theory_rho(self, setting: Setting) -> float:
        """The contraction that Theorem 2 (appendix) asks of FastMix."""
        b, eta, tau = self.batch_size, self.step_size, self.momentum
        sigma = setting.convexity(NAME, "mix_rounds", "theory")
        L = setting.needed_constants(NAME, "mix_rounds", "theory").L
        m, k, J = setting.agents, setting.steps, theory_J(NAME, setting, eta, b)
        growth = k / sigma + 8 * k * L / sigma**2
        growth += 16 * k * L / (sigma**2 * tau**4) + eta * ceil(setting.n / b)
        return min(1 / sqrt(64 * (1 + b + tau**-4)), 1 / sqrt(64 * m * J * b * growth))

    def bound(self, setting: Setting) -> Callable[[int], float] | None:
        """E[F(ȳ^k) − F*] ≤ 3 (1 + τ/2)^−k (F(ȳ^0) − F*), of Theorem 2."""
        if not as_in_theory(self, setting, momentum="theory"):
            return None
        tau = self.momentum
        return lambda k: 3 * (1 + tau / 2) ** -k
