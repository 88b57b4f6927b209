"""The laboratory on real MPI ranks."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from lab_base import Lab, Record
from wins_lab import EVERY, config_of

from pmgt_mpi.algorithms import ALGORITHMS
from pmgt_mpi.config.sections import AlgorithmSection, StopSection


class Ranks(Lab):
    """One agent a rank."""

    how = "ranks"

    def __init__(self, comm: Any, m: int, r: int, seed: int) -> None:
        from pmgt_mpi.execution.run import set_up
        from pmgt_mpi.mpi.collective import Collective

        config = config_of(r, seed) if comm.rank == 0 else None
        self.config = comm.bcast(config)
        self._opened = ExitStack()
        self.setup = set_up(self.config, Collective(comm), None, self._opened)
        c = self.setup.constants
        assert c is not None
        self.seed, self.m, self.r, self.n = seed, m, r, self.setup.n
        self.every = EVERY[r]
        self.l1, self.l2, self.sigma, self.kappa = c.l1, c.l2, c.sigma, c.L / c.sigma

    def free(self) -> None:
        """Free the communicators; collective, and no trial runs after it."""
        self._opened.close()

    def run(
        self, method: str, values: Record, seed: int, target: float, budget: float
    ) -> Record:
        """Run one trial."""
        from pmgt_mpi.execution.algorithm import run_algorithm
        from pmgt_mpi.execution.engine import PYTHON
        from pmgt_mpi.parameters.resolve import resolve

        section = AlgorithmSection(
            name=method,
            method=ALGORITHMS.load(method)(**values),
            steps=self.steps(method, budget),
            evaluate_every=self.cadence(method),
        )
        config = replace(
            self.config,
            run=replace(self.config.run, seed=seed),
            stop=StopSection(relative_suboptimality=target),
            algorithm=(section,),
        )
        config = resolve(config, self.setup, PYTHON)
        done = run_algorithm(self.setup, config, config.algorithm[0], PYTHON)
        last = done.records[-1]
        return {
            "status": done.status,
            "gradients": last["gradients"] / self.n,
            "cost": last["gradients"] / self.n,
            "rounds": last["rounds"],
            "relative": last["relative_suboptimality"],
            "seconds": last["seconds"],
        }
