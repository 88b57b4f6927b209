"""The network of a run: built on rank 0, where each rank then takes its place."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pmgt_mpi.config.schema import Config
from pmgt_mpi.data.files import find_file
from pmgt_mpi.execution.given import NOTHING_GIVEN, Given
from pmgt_mpi.graphs.neighbourhood import Neighbourhood, NetworkFacts, spread_network
from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.mpi.world import agent_communicator, place
from pmgt_mpi.streams import stream

if TYPE_CHECKING:
    from pmgt_mpi.graphs.network import Network


class Place(NamedTuple):
    """Where an agent is in the network.

    Attributes
    ----------
    comm
        Rank and agent id are the same in it; gossip gets duplicates of it.
    collective
        On a duplicate of its own, for set-up and evaluation.
    neighbourhood, network
        This agent's row of W, and what the log tells of the network.
    """

    comm: Any
    collective: Collective
    neighbourhood: Neighbourhood
    network: NetworkFacts


def take_places(
    config: Config, given: Given, everyone: Collective, opened: ExitStack
) -> Place:
    """Build the network on rank 0, and make each rank an agent of it; collective.

    Parameters
    ----------
    opened
        Frees the communicators that are made here.
    """
    hosts = everyone.gather(place()[0])
    network, placed = None, None
    with everyone.agreed():
        if everyone.agent == 0:
            from pmgt_mpi.graphs.placement import place as place_agents

            network = network_of(config, everyone.agents, given)
            wanted, rows = config.network.placement, config.network.options.get("rows")
            placed = place_agents(network, hosts, wanted, rows)
    agent = everyone.comm.scatter(placed, root=0)
    comm = agent_communicator(everyone.comm, agent)
    collective = Collective(comm.Dup())
    opened.callback(comm.Free)
    opened.callback(collective.comm.Free)
    return Place(comm, collective, *spread_network(collective, lambda: network))


def network_of(config: Config, agents: int, given: Given = NOTHING_GIVEN) -> Network:
    """Build the network; only rank 0 comes here, and imports networkx."""
    from pmgt_mpi.graphs.build import build_network

    network, base = config.network, Path(config.folder)
    topology, weights = given.network, given.weights
    if topology is None:
        topology = network.file and find_file(network.file, base)
        topology = network.topology or topology
    if weights is None:
        weights = network.weights_file and find_file(network.weights_file, base)
        weights = network.weights or weights
    return build_network(
        agents,
        stream(config.run.seed if network.seed is None else network.seed, "graph"),
        topology=topology,
        options=network.options,
        weights=weights,
    )
