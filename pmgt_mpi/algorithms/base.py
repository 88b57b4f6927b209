"""What an algorithm is: frozen parameters with `init`, `step` and `solution`."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, inf, log, sqrt
from typing import Any, ClassVar, NamedTuple, Protocol, Self

from numpy.typing import NDArray

from pmgt_mpi.agent import Agent
from pmgt_mpi.algorithms.traits import Traits
from pmgt_mpi.constants import Constants
from pmgt_mpi.errors import UserError

Array = NDArray[Any]

NO_CONVEXITY = 1e-30
"""Part of L that sigma must exceed: less than that is 0 beside it."""


class Setting(NamedTuple):
    """What parameters may depend on: the problem, the network and the budget.

    Attributes
    ----------
    agents, n, least_rows
        m, ceil(N / m), and the rows of the smallest shard.
    constants
        Of the problem; None where it gives none.
    sigma_psi
        Strong convexity of the regularizer.
    lambda_2, lambda_min, psd
        Of W, and whether 0 ⪯ W as the paper assumes.
    own_weight
        The largest W_ii.
    steps
        K, the number of steps that the run may take.
    mix_rounds
        M of the [mixing] section: a number, ``"auto"`` or ``"theory"``.
    rounds_for
        Rounds of the chosen mixing that contract to a given rho.
    contraction
        rho to which a number of rounds contracts; more rounds can contract less.
    round_cost
        Returns c, what a round costs in component gradients: it may be measured then.
    """

    agents: int
    n: int
    least_rows: int
    constants: Constants | None
    sigma_psi: float
    lambda_2: float
    lambda_min: float
    psd: bool
    own_weight: float
    steps: int
    mix_rounds: int | str
    rounds_for: Callable[[float], int]
    contraction: Callable[[int], float]
    round_cost: Callable[[], float]

    def needed_constants(self, method: str, parameter: str, value: object) -> Constants:
        """Return the constants, or say which parameter needs them and what to do."""
        estimates = self.constants is not None and self.constants.estimated
        if self.constants is None or (estimates and value == "theory"):
            raise UserError(
                f"{method}: {parameter} = '{value}' needs the constants L, l1, l2 and "
                f"sigma, which the problem does not give; set {parameter} to a number, "
                "or add constants() to the problem"
            )
        return self.constants

    def needed_curvature(self, method: str, parameter: str, value: object) -> Constants:
        """Return the constants of an f that is not flat: a step divides by L."""
        constants = self.needed_constants(method, parameter, value)
        if constants.L <= 0:
            raise UserError(
                f"{method}: {parameter} = '{value}' is made of L, which is 0 here: f "
                f"is flat, as it is where all rows are zero; set {parameter} to a "
                "number, or look at the data"
            )
        return constants

    def convexity(self, method: str, parameter: str, value: object) -> float:
        """sigma = sigma_f + sigma_psi, which must be positive."""
        constants = self.needed_constants(method, parameter, value)
        sigma = constants.sigma + self.sigma_psi
        if sigma <= NO_CONVEXITY * constants.L:
            raise UserError(
                f"{method}: {parameter} = '{value}' needs a strongly convex objective, "
                f"and sigma is {sigma:.3g} here; add an l2 term to the problem or the "
                f"regularizer, or set {parameter} to a number"
            )
        return sigma

    def batch_size(self, method: str, wanted: int | str) -> int:
        """b: a number, or the paper's √n; at most the smallest shard."""
        if isinstance(wanted, str):
            return min(max(1, round(sqrt(self.n))), self.least_rows)
        if wanted > self.least_rows:
            raise UserError(
                f"{method}: batch_size = {wanted} is more than the {self.least_rows} "
                f"rows of the smallest shard; take at most {self.least_rows}, or fewer "
                "ranks"
            )
        return wanted

    def batch_sizes(
        self, method: str, wanted: int | str, step_size: float | str
    ) -> list[int]:
        """Return what to choose b from: one number, or for ``auto`` ⌈n/t0⌉ for many t0.

        Where ν is not known, or F not strongly convex, nothing says which is best: then
        ``auto`` is √n, and so it is with the ``theory``'s step size, as in Corollary 1.
        """
        known = self.constants is not None and self.constants.nu is not None
        if wanted != "auto" or step_size == "theory" or not known or self.flat:
            return [self.batch_size(method, wanted)]
        ratio, most = 1.15, log(self.n)
        t0 = [ratio**k for k in range(int(most / log(ratio)) + 1)] + [float(self.n)]
        return sorted({min(ceil(self.n / t), self.least_rows) for t in t0})

    @property
    def flat(self) -> bool:
        """Whether F is not known to be strongly convex."""
        c = self.constants
        return c is None or c.sigma + self.sigma_psi <= NO_CONVEXITY * c.L

    def period(self, wanted: int | str, b: int) -> int:
        """Steps between full gradients: a number, or ⌈n/b⌉, a pass over the rows."""
        return ceil(self.n / b) if isinstance(wanted, str) else wanted

    def probability(self, wanted: float | str, b: int) -> float:
        """Of a full gradient in a step: a number, or b/n, one a pass on average."""
        return min(1.0, b / self.n) if isinstance(wanted, str) else wanted

    def largest_steady_step(self) -> float:
        """(1 − λ_2)/(2|μ|), where an f_i is itself not convex: μ < 0 its curvature.

        A step α lets the agents' disagreement grow by α|μ| along that f_i's descent,
        and one gossip round takes 1 − λ_2 of it away; half of where the two are equal.
        For methods with one round a step. On random shards of the paper's problem they
        are stable up to 2.6 to 12 times this; on shards that differ more, sometimes
        not up to twice this.
        """
        if self.constants is None or self.constants.mu_local >= 0 or self.agents == 1:
            return inf
        return 0.5 * (1 - self.lambda_2) / -self.constants.mu_local

    def bold_step(self) -> float:
        """min(√((1 − λ_2)/2)/ζ, ¾ (1 − W_ii)/|μ|), where an f_i is not convex.

        Like `largest_steady_step`, but of what is usual and not of the worst: how much
        the f_i differ over all agents, and a single agent with an f_i of curvature μ,
        from whose disagreement a round takes 1 − W_ii away, W_ii the largest there is.
        Mostly within a factor of 1.5 of the largest stable step, sometimes above it: a
        guard has to look on. Where ζ is not known it is the careful one.
        """
        c, steady = self.constants, self.largest_steady_step()
        if c is None or c.zeta is None or steady == inf:
            return steady
        apart = 0.75 * (1 - self.own_weight) / -c.mu_local
        spread = sqrt((1 - self.lambda_2) / 2) / c.zeta if c.zeta > 0 else inf
        return max(steady, min(spread, apart))

    def require_psd(self, method: str, parameter: str) -> None:
        """Refuse ``theory`` where the paper's assumption 0 ⪯ W does not hold."""
        if not self.psd:
            raise UserError(
                f"{method}: {parameter} = 'theory' needs 0 ⪯ W, and lambda_min is "
                f"{self.lambda_min:.3g}; take weights 'laplacian' or 'metropolis', or "
                f"give {parameter} as a number"
            )


class Algorithm(Protocol):
    """A method: a frozen dataclass whose fields are its section of the config.

    `step` owns the state that it is given and may change it in place. A state is a
    dataclass of arrays and numbers and nothing else.

    A method with a convergence theorem may add ``bound(setting)``: asked with all
    parameters numbers, it returns k ↦ the factor by which F(y^0) − F* bounds the
    expected F(y^k) − F*, or None where the theorem does not speak of these parameters.
    It then has a `step_size` and `mix_rounds`, which tell what rounding leaves of the
    bound.

    A method that a guard may look after (`Traits.guarded`) has a `step_size`, and
    ``watched(agent, before, after)``, called after a step with the states around it: a
    number of this agent's that vanishes where agents agree at the minimiser. If its
    state holds variables in proportion to the step it has ``rescaled(agent, state,
    ratio)`` too: the same state for the present step, which is `ratio` times the one
    that the state was made with. Neither sends anything.
    """

    traits: ClassVar[Traits]
    """What the method needs, costs and assumes."""

    def resolve(self, setting: Setting) -> Self:
        """Return the same method with every ``auto`` and ``theory`` made a number."""
        ...

    def init(self, agent: Agent, x0: Array) -> Any:
        """Return the state before the first step."""
        ...

    def step(self, agent: Agent, state: Any) -> Any:
        """Take one step of the method's natural unit: an epoch or an iteration."""
        ...

    def solution(self, state: Any) -> Array:
        """Return the agent's current answer, the one the theory speaks of."""
        ...
