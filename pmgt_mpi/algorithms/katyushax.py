"""KatyushaX: PMGT-KatyushaX where there is one agent."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, Self

from numpy.typing import NDArray

from pmgt_mpi.agent import Agent
from pmgt_mpi.algorithms.base import Setting
from pmgt_mpi.algorithms.pmgt_katyushax import PMGTKatyushaX, State
from pmgt_mpi.algorithms.traits import Cost, Traits
from pmgt_mpi.options import AUTO, AutoBatchSize, Momentum, StepSize

Array = NDArray[Any]
NAME = "katyushax"


@dataclass(frozen=True, kw_only=True)
class KatyushaX:
    r"""KatyushaX (Allen-Zhu 2018), on a single machine.

    With one agent every mix of PMGT-KatyushaX is the identity, and its epoch is that of
    KatyushaX with minibatches, step for step: so this is that method with M = 0.

    Parameters
    ----------
    batch_size
        b; as for PMGT-KatyushaX.
    step_size
        η; as for PMGT-KatyushaX.
    momentum
        τ; as for PMGT-KatyushaX.

    References
    ----------
    Z. Allen-Zhu, "Katyusha X: Practical Momentum Method for Stochastic Sum-of-Nonconvex
    Optimization", ICML 2018.
    """

    traits: ClassVar[Traits] = Traits(
        source="Allen-Zhu 2018",
        cost=Cost(gradients="n + 2*b*(T+1)", paper="n + b*(T+1)", rounds="0"),
        proximal=True,
        alone=True,
        instead="pmgt-katyushax",
    )

    batch_size: AutoBatchSize = AUTO
    step_size: StepSize = AUTO
    momentum: Momentum = AUTO

    @property
    def _with_agents(self) -> PMGTKatyushaX:
        return PMGTKatyushaX(**asdict(self), mix_rounds=0)

    def init(self, agent: Agent, x0: Array) -> State:
        """x = y = q = x0."""
        return self._with_agents.init(agent, x0)

    def step(self, agent: Agent, k: State) -> State:
        """One epoch."""
        return self._with_agents.step(agent, k)

    def solution(self, state: State) -> Array:
        """y."""
        return state.y

    def resolve(self, setting: Setting) -> Self:
        """η and τ as for PMGT-KatyushaX."""
        used = asdict(self._with_agents.resolve(setting, NAME))
        del used["mix_rounds"]
        return replace(self, **used)
