"""The laboratory in one process, for searches of many trials."""

from __future__ import annotations

import time
from copy import copy
from dataclasses import replace
from itertools import pairwise
from math import isfinite
from typing import Any

import numpy as np
from lab_base import Lab, Record
from mpi4py import MPI
from row_agents import Array, RowAgents

from pmgt_mpi.algorithms import ALGORITHMS
from pmgt_mpi.config.schema import Config
from pmgt_mpi.data.partition import block_bounds, block_sizes
from pmgt_mpi.execution.engine import choose_engine
from pmgt_mpi.execution.network import network_of
from pmgt_mpi.execution.setup import shard_of
from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.problems.quadratic import QuadraticModel
from pmgt_mpi.problems.rows import rows_of
from pmgt_mpi.registry import import_object


class RowLab(Lab):
    """All agents in one process: row i of every array is agent i's.

    Data, problem, graph and engine are the package's own, made from a run's config; the
    problem must be a quadratic one without a regularizer. A run of seed s has the
    gradients and the rounds that the config has on m ranks with ``run.seed = s``.

    Parameters
    ----------
    config
        What is solved.
    m
        Number of agents.
    every
        Steps between evaluations; see `Lab`.
    graph_seed
        Of the graph, where it is not to change with the seed of a run.
    weight
        Gradients that a round counts as in the cost of a trial.
    """

    how = "one process"

    def __init__(
        self,
        config: Config,
        m: int,
        every: tuple[int, int],
        graph_seed: int | None = None,
        weight: float = 0.0,
    ) -> None:
        self.m, self.every, self.weight = m, every, weight
        self._config, self._graph_seed = config, graph_seed
        alone = Collective(MPI.COMM_SELF)
        shard = shard_of(config, alone)
        self.whole: QuadraticModel = config.problem.make(shard, alone)
        constants = self.whole.constants(alone)
        self.l1, self.l2 = constants.l1, constants.l2
        self.sigma, self.kappa = constants.sigma, constants.L / constants.sigma
        sizes = block_sizes(shard.rows, m)
        self.n, self.mean_rows = max(sizes), shard.rows / m
        self.weights = np.array(sizes)[:, None] / self.mean_rows
        bounds = block_bounds(sizes)
        plain = [self._part(shard.A[i:j]) for i, j in pairwise(bounds)]
        self.Q = self.weights[:, :, None] * np.stack([p.hessian(p.q) for p in plain])
        self.q = self.weights * np.stack([part.q for part in plain])
        engine = choose_engine(alone, config.run.engine)
        self.parts: list[Any] = [engine.problem(part) for part in plain]
        self.x_star = -np.linalg.solve(self.Q.mean(0), self.q.mean(0))
        self._networks: dict[int, tuple[Array, float, float]] = {}

    def _part(self, A: Array) -> QuadraticModel:
        """f_i: the same model on some of the rows."""
        part = copy(self.whole)
        for made in ("G", "Q", "q"):
            part.__dict__.pop(made, None)
        part.A, part.rows = rows_of(A), len(A)
        return part

    def network(self, seed: int) -> tuple[Array, float, float]:
        """W, λ_2 and λ_min of a run of this seed."""
        seed = seed if self._graph_seed is None else self._graph_seed
        if seed not in self._networks:
            run = replace(self._config.run, seed=seed)
            network = network_of(replace(self._config, run=run), self.m)
            W = np.zeros((self.m, self.m))
            for i in range(self.m):
                row = network.neighbourhood(i)
                W[i, i] = row.own_weight
                W[i, list(row.neighbours)] = row.weights
            self._networks[seed] = W, network.lambda_2, network.lambda_min
        return self._networks[seed]

    def cost(self, agents: RowAgents) -> float:
        """Gradients and weighted rounds so far, in n."""
        return (agents.gradients + self.weight * agents.rounds) / self.n

    def run(
        self, method: str, values: Record, seed: int, target: float, budget: float
    ) -> Record:
        """Run one trial."""
        algorithm = import_object(ALGORITHMS[method])(**values)
        agents = RowAgents(self, method, seed)
        x0 = np.zeros((self.m, *self.whole.shape))
        start, clock = self.whole.bregman(x0[0], self.x_star), time.perf_counter()
        status, relative = "budget", 1.0
        steps, every = self.steps(method, budget), self.cadence(method)
        with np.errstate(over="ignore", invalid="ignore"):
            state = algorithm.init(agents, x0)
            for step in range(1, steps + 1):
                state = algorithm.step(agents, state)
                if step % every == 0 or step == steps:
                    mean = algorithm.solution(state).mean(0)
                    relative = self.whole.bregman(mean, self.x_star) / start
                    if not relative <= 1e6:
                        status = "diverged"
                    elif relative <= target:
                        status = "converged"
                    spent = self.weight > 0 and self.cost(agents) > budget
                    if spent or status != "budget":
                        break
        return {
            "status": status,
            "gradients": agents.gradients / self.n,
            "gradients_paper": agents.gradients_paper / self.n,
            "rounds": agents.rounds,
            "cost": self.cost(agents),
            "relative": relative if isfinite(relative) else None,
            "seconds": time.perf_counter() - clock,
        }
