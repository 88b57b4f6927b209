"""From a plan to a stage: network, shard, problem, constants and minimiser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from pmgt_mpi.config.plan import Plan
from pmgt_mpi.data.files import find_file
from pmgt_mpi.data.loading import load_shard
from pmgt_mpi.data.shard import Shard
from pmgt_mpi.errors import UserError
from pmgt_mpi.execution.stage import (
    Stage,
    make_stage,
    spread_network,
)
from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.mpi.world import agent_communicator, place
from pmgt_mpi.optimum.cache import cached_minimise
from pmgt_mpi.optimum.reference import Reference
from pmgt_mpi.problems.base import Constants, Problem
from pmgt_mpi.regularizers.base import Regularizer
from pmgt_mpi.streams import seed_sequence, stream


def build_stage(plan: Plan, world: Any) -> Stage:
    """Do all that comes before the first algorithm; collective over the world."""
    built, agent = _seat(plan, Collective(world))
    comm = agent_communicator(world, agent)
    collective = Collective(comm.Dup())
    network = spread_network(collective, lambda: built)
    with collective.agreed():
        shard = shard_of(plan, collective)
    with collective.agreed():  # by itself: it may fail on one agent alone
        check_magnitude(shard)
    with collective.agreed():
        problem: Problem = plan.problem.make(shard, collective)
        regularizer: Regularizer = plan.regularizer.make()

    def find_reference(_: float, constants: Constants | None) -> Reference | None:
        if not plan.reference:
            return None
        return cached_minimise(
            problem, regularizer, collective, shard, constants, plan.problem.options
        )

    x0 = np.zeros(problem.shape, plan.dtype)
    if np.isinf(regularizer.value(x0)):
        x0 = regularizer.prox(x0, 1.0)  # a box that does not hold zero
    stage = make_stage(
        comm, collective, network, problem, regularizer, x0, find_reference,
        plan.accuracy,
    )  # fmt: skip
    return stage._replace(data=shard.digest())


def check_magnitude(shard: Shard) -> None:
    """Refuse numbers whose squares, which every problem here adds up, overflow."""
    values = shard.A.data if shard.sparse else shard.A
    limit = np.sqrt(np.finfo(shard.A.dtype).max / max(1, values.size))
    features = "set data.scale to 'unit', 'standard' or 'minmax'"
    labels = "divide the labels by a number (data.scale leaves them as they are)"
    for kind, part, advice in (
        ("number", values, features),
        ("label", shard.labels, labels),
    ):
        if part is None or part.size == 0:
            continue
        largest = max(part.max(), -part.min())  # without a copy
        if not largest <= limit:
            raise UserError(
                f"[data] has a {kind} of size {largest:.3g}, and those above "
                f"{limit:.3g} overflow when they are squared in {shard.A.dtype}; "
                f"{advice}, or take out what is wrong"
            )


def _seat(plan: Plan, first: Collective) -> tuple[Any, int]:
    """Build the network on rank 0, which agent 0 has too; give each rank its agent."""
    hosts = first.gather(place()[0])
    network, placed = None, None
    with first.agreed():
        if first.agent == 0:
            from pmgt_mpi.graphs.placement import place as place_agents

            network = network_of(plan, first.agents)
            named = plan.network.topology
            rows = named.options.get("rows") if named is not None else None
            placed = place_agents(network, hosts, plan.network.placement, rows)
    return network, first.comm.scatter(placed, root=0)


def network_of(plan: Plan, agents: int) -> Any:
    """Build the network; only agent 0 comes here, and imports networkx."""
    from pmgt_mpi.graphs.build import build_network

    network, base = plan.network, Path(plan.folder)
    topology: str | Path | None = None
    options: dict[str, Any] = {}
    if network.topology is not None:
        topology, options = network.topology.name, network.topology.options
    elif network.file is not None:
        topology = find_file(network.file, base)
    weights: str | Path
    if network.weights is not None:
        weights = network.weights.name
    else:
        assert network.weights_file is not None
        weights = find_file(network.weights_file, base)
    return build_network(
        agents,
        stream(plan.seed if network.seed is None else network.seed, "graph"),
        topology=topology,
        options=options,
        weights=weights,
    )


def shard_of(plan: Plan, collective: Collective) -> Shard:
    """Load this agent's rows, on all agents together."""
    data = plan.data
    return load_shard(
        collective,
        data.source.make(),
        base=Path(plan.folder),
        partition=data.partition,
        scale=data.scale,
        layout=data.layout,
        shares=data.shares,
        seed=seed_sequence(plan.seed if data.seed is None else data.seed, "data"),
        dtype=plan.dtype,
    )
