"""The laboratory on real MPI ranks."""

from __future__ import annotations

from typing import Any

from lab_base import Lab, Record
from wins_lab import EVERY, plan_of

from pmgt_mpi.algorithms import ALGORITHMS
from pmgt_mpi.config.plan import AlgorithmPlan, Part, Stop
from pmgt_mpi.gossip import EXCHANGES, MIXINGS


class Ranks(Lab):
    """One agent a rank."""

    how = "ranks"

    def __init__(self, comm: Any, m: int, r: int, seed: int) -> None:
        from pmgt_mpi.execution.setup import build_stage

        plan = None
        if comm.rank == 0:
            plan = plan_of(r, seed)
        self.stage = build_stage(comm.bcast(plan), comm)
        c = self.stage.constants
        assert c is not None
        self.seed, self.m, self.r, self.n = seed, m, r, self.stage.n
        self.every = EVERY[r]
        self.l1, self.l2, self.sigma, self.kappa = c.l1, c.l2, c.sigma, c.L / c.sigma

    def free(self) -> None:
        """Free the stage's communicators; collective, and no trial runs after it."""
        self.stage.collective.comm.Free()
        self.stage.comm.Free()

    def run(
        self, method: str, values: Record, seed: int, target: float, budget: float
    ) -> Record:
        """Run one trial."""
        from pmgt_mpi.execution.algorithm import execute, resolved
        from pmgt_mpi.execution.engine import PYTHON

        plan = AlgorithmPlan(
            label=method,
            stream=method,
            method=Part(method, ALGORITHMS[method], values),
            mixing=Part("chebyshev", MIXINGS["chebyshev"]),
            mix_rounds="auto",
            steps=self.steps(method, budget),
            evaluate_every=self.cadence(method),
        )
        done = execute(
            self.stage,
            resolved(self.stage, plan),
            seed=seed,
            stop=Stop(target),
            exchange=Part("persistent", EXCHANGES["persistent"]),
            engine=PYTHON,
            watch=lambda step, record: None,  # noqa: ARG005
            tell=lambda note: None,  # noqa: ARG005
        )
        last = done.records[-1]
        return {
            "status": done.status,
            "gradients": last["gradients"] / self.n,
            "cost": last["gradients"] / self.n,
            "rounds": last["rounds"],
            "relative": last["relative_suboptimality"],
            "seconds": last["seconds"],
        }
