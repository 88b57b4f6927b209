"""Network-SARAH: SARAH on every agent between two mixes, with a tracked gradient."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, Self

from numpy.typing import NDArray

from pmgt_mpi.agent import Agent
from pmgt_mpi.algorithms.base import Setting
from pmgt_mpi.algorithms.network_svrg import NetworkSVRG, State, mixed_and_tracked
from pmgt_mpi.algorithms.traits import Cost, Traits
from pmgt_mpi.options import (
    AUTO,
    SECTION,
    SQRT,
    AutoMixRounds,
    AutoStep,
    BatchSize,
    Period,
)

Array = NDArray[Any]
NAME = "network-sarah"


@dataclass(frozen=True, kw_only=True)
class NetworkSARAH:
    r"""Network-SARAH (Li, Cen, Chen and Chi 2020), smooth F only.

    One step is one outer iteration, that of Network-SVRG with another v::

        y^{k+1} = FastMix(x^k, M)
        s^{k+1} = FastMix(s^k, M) + ∇f_i(y^{k+1}) − ∇f_i(y^k)
        u^0 = y^{k+1},  v^0 = s^{k+1}
        for t = 0, …, S − 1:
            u^{t+1} = u^t − α v^t
            v^{t+1} = v^t + (1/b) Σ_{j ∈ B} (∇f_ij(u^{t+1}) − ∇f_ij(u^t))
        x^{k+1} = u^S

    The authors' code can add r (u − y^{k+1}) to each v, which adds up over the steps;
    here there is no such term.

    Parameters
    ----------
    batch_size
        b; 1 in the paper.
    inner_steps
        S; ``auto`` is ⌈n/b⌉, a pass over the rows.
    step_size
        α; ``auto`` is `local_step`.
    mix_rounds
        M; by default that of the [mixing] section.

    References
    ----------
    B. Li, S. Cen, Y. Chen and Y. Chi, "Communication-Efficient Distributed Optimization
    in Networks with Gradient Tracking and Variance Reduction", J. Machine Learning
    Research 21(180), 2020.
    """

    traits: ClassVar[Traits] = Traits(
        source="Li, Cen, Chen and Chi 2020",
        cost=Cost(
            gradients="n + 2*b*(S-1)", paper="n + b*(S-1)", rounds="M", vectors=2
        ),
        letters=(("inner_steps", "S"),),
        instead="pmgt-svrg",
        convex="components",
    )

    batch_size: BatchSize = SQRT
    inner_steps: Period = AUTO
    step_size: AutoStep = AUTO
    mix_rounds: AutoMixRounds = SECTION

    def init(self, agent: Agent, x0: Array) -> State:
        """As Network-SVRG."""
        return self._svrg.init(agent, x0)

    def step(self, agent: Agent, k: State) -> State:
        """One outer iteration."""
        y, s, g = mixed_and_tracked(agent, k, self.mix_rounds)
        u_old, u, v = y, y - self.step_size * s, s
        for _ in range(self.inner_steps - 1):
            B = agent.minibatch(self.batch_size)
            v = v + agent.grad_difference(u, u_old, B)
            u_old, u = u, u - self.step_size * v
        return State(x=u, s=s, grad_y=g)

    def solution(self, state: State) -> Array:
        """x."""
        return state.x

    def resolve(self, setting: Setting) -> Self:
        """All as for Network-SVRG."""
        return replace(self, **asdict(self._svrg.resolve(setting, NAME)))

    @property
    def _svrg(self) -> NetworkSVRG:
        return NetworkSVRG(**asdict(self))
