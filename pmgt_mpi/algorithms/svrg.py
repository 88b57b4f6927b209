"""SVRG: PMGT-SVRG where there is one agent."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, Self

from numpy.typing import NDArray

from pmgt_mpi.agent import Agent
from pmgt_mpi.algorithms.base import Setting
from pmgt_mpi.algorithms.pmgt_svrg import PMGTSVRG, State
from pmgt_mpi.algorithms.traits import Cost, Traits
from pmgt_mpi.options import AUTO, AutoBatchSize, StepSize

Array = NDArray[Any]
NAME = "svrg"


@dataclass(frozen=True, kw_only=True)
class SVRG:
    r"""SVRG with a proximal step (Xiao and Zhang 2014), on a single machine.

    With one agent every mix of PMGT-SVRG is the identity: so this is that method with
    M = 0. The length of an epoch is geometric and its last iterate is kept, as in
    Allen-Zhu (2018) and in the paper.

    Parameters
    ----------
    batch_size
        b; as for PMGT-SVRG.
    step_size
        η; as for PMGT-SVRG.

    References
    ----------
    L. Xiao and T. Zhang, "A Proximal Stochastic Gradient Method with Progressive
    Variance Reduction", SIAM J. Optimization 24(4), 2014.
    """

    traits: ClassVar[Traits] = Traits(
        source="Xiao and Zhang 2014",
        cost=Cost(gradients="n + 2*b*(T+1)", paper="n + b*(T+1)", rounds="0"),
        proximal=True,
        alone=True,
        instead="pmgt-svrg",
    )

    batch_size: AutoBatchSize = AUTO
    step_size: StepSize = AUTO

    @property
    def _with_agents(self) -> PMGTSVRG:
        return PMGTSVRG(**asdict(self), mix_rounds=0)

    def init(self, agent: Agent, x0: Array) -> State:
        """x = y = x0."""
        return self._with_agents.init(agent, x0)

    def step(self, agent: Agent, k: State) -> State:
        """One epoch."""
        return self._with_agents.step(agent, k)

    def solution(self, state: State) -> Array:
        """y."""
        return state.y

    def resolve(self, setting: Setting) -> Self:
        """η as for PMGT-SVRG."""
        used = asdict(self._with_agents.resolve(setting, NAME))
        del used["mix_rounds"]
        return replace(self, **used)
