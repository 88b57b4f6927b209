"""The forecast: one agent's rows here, the network of a cluster, and what follows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import Any

from pmgt_mpi.algorithms.base import Algorithm
from pmgt_mpi.algorithms.traits import step_cost
from pmgt_mpi.config.schema import Config
from pmgt_mpi.config.sections import AlgorithmSection
from pmgt_mpi.gossip.exchange import tape_shape
from pmgt_mpi.gossip.gossip import Gossip
from pmgt_mpi.gossip.polynomials import server
from pmgt_mpi.gossip.server import spectrum_of
from pmgt_mpi.graphs.neighbourhood import facts_of
from pmgt_mpi.graphs.network import Network
from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.mpi.together import LocalComm, Room
from pmgt_mpi.parameters.cost import ALONE, measured_cost
from pmgt_mpi.parameters.guard import guarded, guarded_parameters
from pmgt_mpi.parameters.resolve import resolved_method
from pmgt_mpi.plan.rehearsal import FewRounds, Rehearsal, one_for_all
from pmgt_mpi.plan.sample import Sample

REHEARSAL_SECONDS = 0.5, 3.0
"""For which steps of one algorithm are rehearsed, at least and at most."""


@dataclass(frozen=True)
class Cluster:
    """A cluster that is spoken of: ranks, and the links between them.

    Without latency and bandwidth the links are as those between the two ranks here.
    """

    ranks: int
    latency: float | None = None
    bandwidth: float | None = None

    def wire(self, messages: int, nbytes: int) -> float:
        """Seconds of a round beyond its cost in the rehearsal."""
        if not messages or self.latency is None or self.bandwidth is None:
            return 0.0
        return self.latency + messages * nbytes / self.bandwidth


def resolved(
    config: Config,
    section: AlgorithmSection,
    sample: Sample,
    network: Network,
    rounds: int | None = None,
) -> Algorithm:
    """Make the method with numbers for all its parameters, for that network."""
    setup = sample.setup._replace(
        collective=Collective(LocalComm(Room(network.agents, inf), 0)),
        network=facts_of(network),
    )
    if network.agents != len(setup.rows):
        setup = setup._replace(rows=[sample.n] * network.agents)
    if rounds is not None:
        config = replace(config, mixing=replace(config.mixing, rounds=rounds))
    method: Algorithm = resolved_method(config, section, setup)
    return method


def with_round_cost(
    config: Config, sample: Sample, network: Network, cluster: Cluster
) -> tuple[Config, Sample]:
    """Measure what a round would cost, if a method's parameters depend on it.

    As a run does at its start, but from rounds here and what a link takes beside.
    """
    cost = config.cost.round_in_gradients
    asks = [one for one in config.algorithm if _by_cost(one)]
    if cost != "auto" or not asks:
        return config, sample
    cost, setup = ALONE, sample.setup
    if network.agents > 1:
        gossip = gossip_here(config, asks[0], sample, network)
        degree = links_of(config, asks[0], network)[0]
        wire = cluster.wire(degree, setup.x0.nbytes)
        problem, ranks = sample.engine.problem(setup.problem), Collective(setup.comm)
        cost = measured_cost(gossip, problem, setup.x0, ranks, wire)
        gossip.close()
        sample = replace(sample, measured_cost=True)
    return replace(config, cost=replace(config.cost, round_in_gradients=cost)), sample


def _by_cost(section: AlgorithmSection) -> bool:
    """Whether the parameters of a method may depend on what a round costs."""
    return str(getattr(section.method, "batch_size", "")) == "auto"


def gossip_here(
    config: Config, section: AlgorithmSection, sample: Sample, network: Network
) -> Gossip:
    """Return the gossip of an agent of the largest degree, with one neighbour here."""
    mixing = config.mixing_of(section)
    return one_for_all(
        sample.setup.comm,
        links_of(config, section, network)[0],
        spectrum_of(mixing, network.lambda_2, network.lambda_min),
        mixing,
        sample.engine.exchange(config.network.exchange),
    )


def links_of(
    config: Config, section: AlgorithmSection, network: Network
) -> tuple[int, int]:
    """Return the largest degree and the number of edges over which messages go."""
    if config.mixing_of(section) is server:
        return network.agents - 1, network.agents - 1
    return int(network.degrees.max(initial=0)), network.edges


def estimated(config: Config, number: int, sample: Sample) -> list[str]:
    """Names of the parameters that may be others in the run: words in the config."""
    by_cost = sample.measured_cost and _by_cost(config.algorithm[number])
    if sample.why is None and not by_cost:
        return []
    known = set()
    if not isinstance(config.mixing.rounds, str):
        known.add("section")
    data = config.data
    if data is not None and "rows" in data.options and data.shares is None:
        known.add("sqrt")  # of the rows of an agent, which are known
    words = vars(config.algorithm[number].method).items()
    return [name for name, v in words if isinstance(v, str) and v not in known]


def forecast(
    config: Config,
    number: int,
    sample: Sample,
    network: Network,
    cluster: Cluster,
    *,
    steps: int = 40,
    T: int | None = None,
    rounds: int | None = None,
) -> dict[str, Any]:
    """Return what one algorithm of a config would cost on a cluster.

    Parameters
    ----------
    number
        Of the algorithm in the config.
    steps
        How many are rehearsed here, if they do not take too long.
    T
        Tell the cost of a step in which T was drawn; else the average.
    rounds
        M in the place of the config's.
    """
    section = config.algorithm[number]
    method = resolved(config, section, sample, network, rounds)
    cost = step_cost(method, sample.n, T=T)
    gossip = gossip_here(config, section, sample, network)
    degree, edges = links_of(config, section, network)
    guard = guarded_parameters(section, config.mixing.rounds)
    watched = guarded(method, guard, network.diameter, sample.n)
    rehearsal = Rehearsal(
        sample.setup, watched, FewRounds(gossip), sample.engine,
        n=sample.n, seed=config.run.seed, stream_name=section.stream,
    )  # fmt: skip
    rehearsal.run(steps, *REHEARSAL_SECONDS)
    gossip.close()
    per_step, per_gradient = rehearsal.compute_model()
    here = rehearsal.round_seconds() if degree else 0.0
    x0 = sample.setup.x0
    nbytes = x0.itemsize * method.traits.cost.numbers(x0.shape)
    wire = cluster.wire(degree, nbytes)
    ends = 2 * edges
    alone = network.agents == 1
    compute = per_step + cost.gradients * per_gradient
    communication = cost.rounds * (here + wire)
    tape = tape_shape(degree, nbytes)[1] * nbytes
    memory = sample.base_bytes + sample.nbytes + tape + rehearsal.state_bytes
    return {
        "algorithm": section.label,
        "parameters": vars(method).copy(),
        "estimated": estimated(config, number, sample),
        "step": {
            "gradients": cost.gradients,
            "rounds": 0 if alone else cost.rounds,
            "messages": ends * cost.rounds,
            "bytes": ends * cost.rounds * nbytes,
            "seconds": compute + communication,
            "compute_seconds": compute,
            "comm_seconds": communication,
        },
        "seconds_of": {
            "step": per_step,
            "gradient": per_gradient,
            "round": here + wire,
        },
        # At the start and after each of the first steps, of all agents.
        "first_steps": {
            "rounds": [0 if alone else each for each in rehearsal.rounds[: steps + 1]],
            "messages": [ends * each for each in rehearsal.rounds[: steps + 1]],
            "bytes": [ends * each for each in rehearsal.bytes[: steps + 1]],
        },
        "memory_bytes": memory,
    }
