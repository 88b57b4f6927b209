"""What one agent keeps of the network: its own row of W."""

from __future__ import annotations

from typing import Any, NamedTuple

from numpy.typing import NDArray

Array = NDArray[Any]


class Neighbourhood(NamedTuple):
    """One agent's row of the gossip matrix, and the spectrum that all share.

    Attributes
    ----------
    agent, agents
        Id of this agent, and m.
    neighbours
        Ids of the agents at the other ends of the edges, in increasing order.
    weights
        W_ij for each neighbour j, in the same order.
    own_weight
        W_ii.
    lambda_2, lambda_min
        Second largest and smallest eigenvalue of W; both 0 for a single agent.
    """

    agent: int
    agents: int
    neighbours: tuple[int, ...]
    weights: Array
    own_weight: float
    lambda_2: float
    lambda_min: float
