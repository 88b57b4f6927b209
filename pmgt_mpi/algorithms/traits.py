"""What a method says of itself: its source, its needs, its proof, its cost."""

from __future__ import annotations

from typing import Literal, NamedTuple


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
    """

    gradients: str
    paper: str
    rounds: str
    vectors: int = 1


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
    convex
        What its proof assumes to be convex: every f_ij (``"components"``), every f_i
        (``"agents"``) or nothing but the whole (``"mean"``). Where that does not hold
        the user is told, and the method runs.
    psd
        Whether its proof assumes 0 ⪯ W; likewise.
    """

    source: str
    cost: Cost
    letters: tuple[tuple[str, str], ...] = ()
    proximal: bool = False
    alone: bool = False
    instead: str = ""
    remembers: bool = False
    convex: Literal["components", "agents", "mean"] = "mean"
    psd: bool = False
