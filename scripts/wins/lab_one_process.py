"""The laboratory in one process, for searches of many trials."""

from __future__ import annotations

import time
from math import isfinite

import numpy as np
from bernoulli_table import Array, table
from experiment import COLUMNS, ROWS
from lab_base import Lab, Record
from row_agents import RowAgents

from pmgt_mpi.algorithms import ALGORITHMS
from pmgt_mpi.graphs.build import build_network
from pmgt_mpi.registry import import_object
from pmgt_mpi.streams import stream


class OneProcess(Lab):
    """All agents in one process: row i of every array is agent i's."""

    how = "one process"

    def __init__(self, m: int, r: int, seed: int) -> None:
        self.seed, self.m, self.r, self.n = seed, m, r, ROWS // m
        self.A = A = table(seed)
        values = np.linalg.eigvalsh(A.T @ A / ROWS)
        self.sigma = (values[-1] - values[-2]) / r
        self.l1 = self.c = values[-1] + self.sigma
        self.l2 = max(self.l1, COLUMNS - self.c)
        self.kappa = (self.c - values[0]) / self.sigma
        b = np.random.default_rng(0).standard_normal(COLUMNS)
        self.b = b / np.linalg.norm(b)
        shards = A.reshape(m, self.n, COLUMNS)
        self.Q = self.c * np.eye(COLUMNS) - np.stack([a.T @ a for a in shards]) / self.n
        self.mean_Q = self.Q.mean(0)
        self.x_star = -np.linalg.solve(self.mean_Q, self.b)
        network = build_network(m, stream(seed, "graph"), topology="two-neighbours",
                                options={}, weights="laplacian")  # fmt: skip
        self.spectrum = network.lambda_2, network.lambda_min
        self.W = np.zeros((m, m))
        for i in range(m):
            row = network.neighbourhood(i)
            self.W[i, i] = row.own_weight
            self.W[i, list(row.neighbours)] = row.weights

    def suboptimality(self, x: Array) -> float:
        """F(x) − F*."""
        e = x - self.x_star
        return float(e @ self.mean_Q @ e) / 2

    def run(
        self, method: str, values: Record, seed: int, target: float, budget: float
    ) -> Record:
        """Run one trial."""
        algorithm = import_object(ALGORITHMS[method])(**values)
        agents = RowAgents(self, method, seed)
        start, clock = self.suboptimality(np.zeros(COLUMNS)), time.perf_counter()
        state, status = algorithm.init(agents, np.zeros((self.m, COLUMNS))), "budget"
        steps, every = self.steps(method, budget), self.every(method)
        with np.errstate(over="ignore", invalid="ignore"):
            for step in range(1, steps + 1):
                state = algorithm.step(agents, state)
                if step % every == 0 or step == steps:
                    mean = algorithm.solution(state).mean(0)
                    relative = self.suboptimality(mean) / start
                    if not relative <= 1e6:
                        status = "diverged"
                    elif relative <= target:
                        status = "converged"
                    if status != "budget":
                        break
        return {
            "status": status,
            "gradients": agents.gradients / self.n,
            "rounds": agents.rounds,
            "relative": relative if isfinite(relative) else None,
            "seconds": time.perf_counter() - clock,
        }
