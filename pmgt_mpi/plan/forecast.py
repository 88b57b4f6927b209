"""The forecast: one agent's rows here, the network of a cluster, and what follows."""

from __future__ import annotations

import resource
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
from mpi4py import MPI

from pmgt_mpi.algorithms.base import Algorithm, Setting
from pmgt_mpi.collective import Collective
from pmgt_mpi.data.shard import Shard
from pmgt_mpi.engine.choice import Engine
from pmgt_mpi.errors import UserError
from pmgt_mpi.gossip.exchange import tape_shape
from pmgt_mpi.gossip.polynomials import Mixing, contraction, rounds_for
from pmgt_mpi.graphs.network import Network
from pmgt_mpi.plan.counts import step_cost
from pmgt_mpi.plan.rehearsal import FewRounds, Rehearsal, one_for_all
from pmgt_mpi.runtime.build import network_of, shard_of
from pmgt_mpi.runtime.plan import AlgorithmPlan, Part, Plan
from pmgt_mpi.runtime.stage import Stage, make_stage, spread_network

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


@dataclass(frozen=True)
class Sample:
    """One agent's rows on this machine.

    Attributes
    ----------
    stage
        Of an agent that is alone with them, but for the network of the rehearsal.
    n
        Rows of an agent.
    nbytes
        Of the rows and labels.
    base_bytes
        Memory of the process with all libraries, before the rows.
    engine
        What runs rounds and minibatches, as in a run.
    """

    stage: Stage
    n: int
    nbytes: int
    base_bytes: int
    engine: Engine


def take_sample(plan: Plan, ranks: int, engine: Engine, comm: Any) -> Sample:
    """Load as many rows as one of `ranks` agents would have.

    `comm` holds this rank alone, or both ranks that rehearse together.
    """
    base_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    source = plan.data.source
    rows, path = source.options.get("rows"), str(source.options.get("path", ""))
    alone = plan._replace(data=plan.data._replace(shares=None))
    if rows is not None and rows < ranks:
        raise UserError(
            f"--ranks {ranks}: [data] has {rows} rows, fewer than one an agent"
        )
    if rows is not None:
        n = ceil(rows / ranks)
        options = {**source.options, "rows": n}
        own = alone.data._replace(source=source._replace(options=options))
        alone = alone._replace(data=own)
    collective = Collective(MPI.COMM_SELF)
    shard = shard_of(alone, collective)
    if rows is None:
        n = shard.rows if "{agent}" in path else ceil(shard.rows / ranks)
        labels = None if shard.labels is None else shard.labels[:n]
        shard = Shard(shard.A[:n], labels, n, 1)
    problem = plan.problem.make(shard, collective)
    network = spread_network(collective, lambda: network_of(_ring(plan), 1))
    stage = make_stage(
        MPI.COMM_SELF, collective, network, problem, plan.regularizer.make(),
        np.zeros(problem.shape, plan.dtype), lambda *_: None,
    )  # fmt: skip
    return Sample(stage._replace(comm=comm), n, shard.nbytes, base_bytes, engine)


def _ring(plan: Plan) -> Plan:
    """The plan with a network that one agent can have."""
    part = Part("ring", "pmgt_mpi.graphs.fixed:ring")
    weights = Part("laplacian", "pmgt_mpi.graphs.weights:laplacian")
    network = plan.network._replace(
        topology=part, file=None, weights=weights, weights_file=None
    )
    return plan._replace(network=network)


def resolved(
    plan: AlgorithmPlan, sample: Sample, network: Network, rounds: int | None = None
) -> Algorithm:
    """Make the method with numbers for all its parameters, for that network."""
    mixing: Mixing = plan.mixing.load()
    stage = sample.stage
    setting = Setting(
        agents=network.agents,
        n=sample.n,
        least_rows=sample.n,
        constants=stage.constants,
        sigma_psi=stage.regularizer.sigma,
        lambda_2=network.lambda_2,
        lambda_min=network.lambda_min,
        psd=network.psd,
        steps=plan.steps,
        mix_rounds=plan.mix_rounds if rounds is None else rounds,
        rounds_for=lambda rho: rounds_for(
            mixing, rho, network.lambda_2, network.lambda_min
        ),
        contraction=lambda M: contraction(
            mixing, M, network.lambda_2, network.lambda_min
        ),
    )
    method: Algorithm = plan.method.make()
    return method.resolve(setting)


def forecast(
    plan: Plan,
    number: int,
    sample: Sample,
    network: Network,
    cluster: Cluster,
    *,
    steps: int = 40,
    T: int | None = None,
    rounds: int | None = None,
) -> dict[str, Any]:
    """Give what one algorithm of a plan would cost on a cluster.

    Parameters
    ----------
    number
        Of the algorithm in the plan.
    steps
        How many are rehearsed here, if they do not take too long.
    T
        Tell the cost of a step in which T was drawn; else the average.
    rounds
        M in the place of the config's.
    """
    algorithm = plan.algorithms[number]
    method = resolved(algorithm, sample, network, rounds)
    cost = step_cost(method, sample.n, T=T)
    degree = int(network.degrees.max(initial=0))
    spectrum = network.lambda_2, network.lambda_min
    gossip = one_for_all(
        sample.stage.comm,
        degree,
        spectrum,
        algorithm.mixing.load(),
        sample.engine.exchange(plan.network.exchange.name),
    )
    rehearsal = Rehearsal(
        sample.stage, method, FewRounds(gossip), sample.engine,
        n=sample.n, seed=plan.seed, stream_name=algorithm.stream,
    )  # fmt: skip
    rehearsal.run(steps, *REHEARSAL_SECONDS)
    gossip.close()
    per_step, per_gradient = rehearsal.compute_model()
    here = rehearsal.round_seconds() if degree else 0.0
    x0 = sample.stage.x0
    nbytes = x0.nbytes * cost.vectors
    wire = cluster.wire(degree, nbytes)
    ends = 2 * network.edges
    alone = network.agents == 1
    compute = per_step + cost.gradients * per_gradient
    communication = cost.rounds * (here + wire)
    tape = tape_shape(degree, nbytes)[1] * nbytes
    memory = sample.base_bytes + sample.nbytes + tape + rehearsal.state_bytes
    return {
        "algorithm": algorithm.label,
        "parameters": vars(method).copy(),
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
        # Exactly, at the start and after each of the first steps, of all agents.
        "first_steps": {
            "rounds": [0 if alone else each for each in rehearsal.rounds[: steps + 1]],
            "messages": [ends * each for each in rehearsal.rounds[: steps + 1]],
            "bytes": [ends * each for each in rehearsal.bytes[: steps + 1]],
        },
        "memory_bytes": memory,
    }
