"""What one agent keeps of the network: its own row of W, and a few facts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from numpy.typing import NDArray

from pmgt_mpi.mpi.collective import Collective

if TYPE_CHECKING:
    from pmgt_mpi.graphs.network import Network

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


class NetworkFacts(NamedTuple):
    """What the log tells of the network; the matrix itself stays on agent 0.

    Attributes
    ----------
    diameter
        Rounds after which what one agent says has come to all.
    largest_own_weight
        The largest W_ii.
    """

    topology: str
    weights: str
    edges: int
    lambda_2: float
    lambda_min: float
    psd: bool
    nonnegative: bool
    diameter: int
    largest_own_weight: float


def facts_of(network: Network) -> NetworkFacts:
    """Return what the log tells of a network."""
    return NetworkFacts(*(getattr(network, name) for name in NetworkFacts._fields))


def spread_network(
    collective: Collective, build: Callable[[], Network | None]
) -> tuple[Neighbourhood, NetworkFacts]:
    """Build the network on agent 0; every agent gets its own row and no more."""
    neighbourhoods: list[Neighbourhood] | None = None
    facts: NetworkFacts | None = None
    with collective.agreed():
        if collective.agent == 0:
            network = build()
            assert network is not None
            neighbourhoods = [network.neighbourhood(i) for i in range(network.agents)]
            facts = facts_of(network)
    return (
        collective.comm.scatter(neighbourhoods, root=0),
        collective.from_first(facts),
    )
