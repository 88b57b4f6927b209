"""What a method says of itself: its source, its needs, its proof, its cost."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import product
from math import ceil, prod
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from pmgt_mpi.algorithms.base import Algorithm


class Cost(NamedTuple):
    """What one step costs an agent, as formulas in the method's own letters.

    The letters are n (the agent's rows), b (batch_size), M (mix_rounds) and further
    parameters of the method by their letter in `Traits.letters`; k, the number of the
    step, from 0; and what chance gave in the step: T from `Agent.geometric`, C (0 or 1)
    from `Agent.coin`, Λ, how often `Agent.own_coin` was true. The formulas are Python:
    the tests evaluate them and hold them against the counters.

    Attributes
    ----------
    gradients
        Component gradients, 2b for the difference of two minibatch gradients.
    paper
        The same as the paper counts them, b for a difference.
    rounds
        Gossip rounds.
    vectors
        Vectors of the size of x in one message.
    holds
        What stands in a message in place of x, of d × k: a column of it, or the upper
        triangle of a d × d matrix.
    """

    gradients: str
    paper: str
    rounds: str
    vectors: int = 1
    holds: Literal["x", "column", "triangle"] = "x"

    def numbers(self, shape: tuple[int, ...]) -> int:
        """How many numbers a message has, x being of this shape."""
        d = shape[0]
        if self.holds == "triangle":
            return d * (d + 1) // 2
        return self.vectors * (d if self.holds == "column" else prod(shape))


class Traits(NamedTuple):
    """What is known of a method before it runs.

    Attributes
    ----------
    source
        Who published it, and when.
    cost
        Of one step.
    letters
        The letter in `cost` of a parameter that is not b or M, by parameter.
    proximal
        Whether it has a proximal step for psi. Without one a regularizer is refused.
    alone
        Whether it is for a single machine. More than one agent is refused.
    instead
        A method to take where a need is not met.
    remembers
        Whether it keeps a table of the rows' gradients.
    linear
        Whether it steps along single rows, and needs a linear model with a convex loss
        (`Agent.components`). Where there is none it is refused.
    square
        Whether it divides by the strength of an l2 term in the problem. Where there is
        none it is refused.
    convex
        What its proof assumes to be convex: every f_ij (``"components"``), every f_i
        (``"agents"``) or nothing but the whole (``"mean"``). Where that does not hold
        the user is told, and the method runs.
    psd
        Whether its proof assumes 0 ⪯ W; likewise.
    finds
        What it looks for, which must be what the problem asks for.
    guarded
        Parameters that a guard may change where ``auto`` chose them: it makes steps
        smaller and rounds more. The method then has `watched`, and `rescaled` if its
        state is not of use with another step.
    single
        Whether it finds one eigenvector, and no more.
    in_stages
        Whether `cost` is that of one epoch of an inner method, of which a step takes
        more and more.
    """

    source: str
    cost: Cost
    letters: tuple[tuple[str, str], ...] = ()
    proximal: bool = False
    alone: bool = False
    instead: str = ""
    remembers: bool = False
    linear: bool = False
    square: bool = False
    convex: Literal["components", "agents", "mean"] = "mean"
    psd: bool = False
    finds: Literal["minimiser", "eigenvectors"] = "minimiser"
    guarded: tuple[str, ...] = ()
    single: bool = False
    in_stages: bool = False


@dataclass(frozen=True)
class StepCost:
    """Of one agent, in one step."""

    gradients: float
    paper: float
    rounds: float
    vectors: int


def step_cost(method: Algorithm, n: int, *, T: int | None = None) -> StepCost:
    """Evaluate a method's formulas, all of its parameters being numbers.

    Without T it is the average: T + 1 = ⌈n/b⌉, coins by their probability (Λ of all S
    inner steps but the last), and steps of a period by their share. With T it is what a
    step costs in which T was drawn.
    """
    traits, own = method.traits, asdict(method)  # type: ignore[call-overload]
    b = own.get("batch_size") or 1
    letters = {letter: own[name] for name, letter in traits.letters}
    chance = own.get("probability") or 0.0
    values: dict[str, Any] = {
        **letters,
        "n": n,
        "b": b,
        "M": own.get("mix_rounds"),
        "T": ceil(n / b) - 1 if T is None else T,
        "Λ": max(0, letters.get("S", 0) - 1) * (own.get("activation") or 0.0),
    }
    period = letters.get("q") or 1
    totals = {"gradients": 0.0, "paper": 0.0, "rounds": 0.0}
    for k, C in product(range(1, period + 1), (0, 1)):
        weight = (chance if C else 1 - chance) / period
        for name in totals:
            formula = getattr(traits.cost, name)
            # The package's own words, in its own letters, and no names beside them.
            scope = {**values, "k": k, "C": C, "__builtins__": {}}
            totals[name] += weight * float(eval(formula, scope))
    return StepCost(**totals, vectors=traits.cost.vectors)
