"""VR-EXTRA: EXTRA with the estimates of loopless SVRG."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.agent import Agent
from pmgt_mpi.algorithms.base import Setting
from pmgt_mpi.algorithms.step_sizes import careful_step
from pmgt_mpi.algorithms.traits import Cost, Traits
from pmgt_mpi.options import AUTO, SQRT, AutoStep, BatchSize, Chance

Array = NDArray[Any]
NAME = "vr-extra"


@dataclass(frozen=True)
class State:
    """Variables of one agent; mu is the gradient at the snapshot w."""

    x: Array
    q: Array
    w: Array
    mu: Array


@dataclass(frozen=True, kw_only=True)
class VRExtra:
    r"""VR-EXTRA (Li, Lin and Fang 2022), smooth F only.

    EXTRA, x^{k+1} = x^k + W x^k − W̃ x^{k−1} − α (v^k − v^{k−1}), in a form that does
    not remember rounding errors: q^k is half the sum of all x − W x before. One step is
    one iteration, with a coin C of probability p that all agents share::

        v^k = ∇f_i(w^k) + (1/b) Σ_{j ∈ B} (∇f_ij(x^k) − ∇f_ij(w^k))
        x^{k+1} = x^k − (x^k − W x^k) − q^k − α v^k
        q^{k+1} = q^k + (x^k − W x^k)/2
        w^{k+1} = x^k if C, else w^k

    The rows are drawn evenly; in the paper by the smoothness of each.

    Parameters
    ----------
    batch_size
        b.
    probability
        p, of a new snapshot in a step; ``auto`` is b/n.
    step_size
        α; ``auto`` is 1/(L + l1/b), L that of the worst f_i, at most `careful_step`.

    References
    ----------
    H. Li, Z. Lin and Y. Fang, "Variance Reduced EXTRA and DIGing and Their Optimal
    Acceleration for Strongly Convex Decentralized Optimization", J. Machine Learning
    Research 23(222), 2022.
    """

    traits: ClassVar[Traits] = Traits(
        source="Li, Lin and Fang 2022",
        cost=Cost(gradients="2*b + n*C", paper="b + n*C", rounds="1"),
        instead="pmgt-lsvrg",
        convex="components",
    )

    batch_size: BatchSize = SQRT
    probability: Chance = AUTO
    step_size: AutoStep = AUTO

    def init(self, agent: Agent, x0: Array) -> State:
        """w = x0 and q = 0."""
        return State(x=x0, q=np.zeros_like(x0), w=x0, mu=agent.grad(x0))

    def step(self, agent: Agent, k: State) -> State:
        """One iteration."""
        apart = agent.disagreement(k.x)
        B = agent.minibatch(self.batch_size)
        v = k.mu + agent.grad_difference(k.x, k.w, B)
        x = k.x - apart - k.q - self.step_size * v
        w, mu = k.w, k.mu
        if agent.coin(self.probability):
            w, mu = k.x, agent.grad(k.x)
        return State(x=x, q=k.q + apart / 2, w=w, mu=mu)

    def solution(self, state: State) -> Array:
        """x."""
        return state.x

    def resolve(self, setting: Setting) -> Self:
        """b, p = b/n, and α for it."""
        b = setting.batch_size(NAME, self.batch_size)
        alpha, p = self.step_size, setting.probability(self.probability, b)
        if isinstance(alpha, str):
            c = setting.needed_curvature(NAME, "step_size", alpha)
            most = careful_step(NAME, alpha, setting)
            alpha = min(most, 1 / (c.L_local + c.l1 / b))
        return replace(self, batch_size=b, probability=p, step_size=alpha)
