"""A program for mpirun: ten steps without messages, each evaluated and agreed on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from mpi4py import MPI

from pmgt_mpi.agent import Agent
from pmgt_mpi.clock import Clock
from pmgt_mpi.config.sections import StopSection
from pmgt_mpi.data.shard import Shard
from pmgt_mpi.execution.evaluation import Evaluator, Objective
from pmgt_mpi.execution.loop import run_loop
from pmgt_mpi.gossip.exchange import PersistentExchange
from pmgt_mpi.gossip.gossip import Gossip
from pmgt_mpi.gossip.polynomials import chebyshev
from pmgt_mpi.graphs.build import build_network
from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.optimum.reference import minimise
from pmgt_mpi.problems.ridge import Ridge
from pmgt_mpi.regularizers.none import NoRegularizer

ROWS, D, STEPS = 8, 6, 10


@dataclass(frozen=True)
class Descent:
    """x ← x − ∇f_i(x)/10."""

    def init(self, agent, x0):  # noqa: ARG002
        return x0

    def step(self, agent, x):
        return x - 0.1 * agent.grad(x)

    def solution(self, x):
        return x


comm = MPI.COMM_WORLD
collective = Collective(comm.Dup())
rng = np.random.default_rng(comm.rank)
shard = Shard(
    rng.normal(size=(ROWS, D)), rng.normal(size=ROWS), ROWS * comm.size, comm.size
)
f, psi = Ridge(shard, collective, l2=0.1), NoRegularizer()
reference = minimise(f, psi, collective, 1.0, f.constants(collective))
network = build_network(comm.size, np.random.default_rng(0), topology="ring")
gossip = Gossip(
    comm.Dup(), network.neighbourhood(comm.rank), chebyshev, PersistentExchange
)
agent = Agent(
    f, psi, gossip, weight=1.0, n=ROWS, seed=1, stream_name="x", agent_id=comm.rank
)
objective, clock = Objective(collective, f, psi, 1.0, reference), Clock()
evaluator = Evaluator("x", objective, np.zeros(D), agent, gossip, clock)
MPI.Pcontrol(1)
outcome = run_loop(
    Descent(), agent, np.zeros(D), clock=clock, wall=Clock(), evaluator=evaluator,
    collective=collective, steps=STEPS, every=1, stop=StopSection(),
    watch=lambda step, record: None,  # noqa: ARG005
)  # fmt: skip
MPI.Pcontrol(0)
assert len(outcome.records) == STEPS + 1
assert outcome.records[-1]["relative_suboptimality"] < 1
