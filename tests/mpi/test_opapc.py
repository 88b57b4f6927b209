"""OPAPC where f_i are not convex: it diverges unless one mix is long."""

from __future__ import annotations

import numpy as np
import pytest

import pmgt_mpi


def paper_problem(comm, algorithm, steps):
    rng = np.random.default_rng([5, comm.rank])
    A = rng.choice([-1.0, 1.0], size=(300, 20)) * (1 + 0.1 * np.arange(20) / 20)
    return pmgt_mpi.solve(
        {"kind": "shift-invert-pca", "ratio": 30.0}, A, algorithm=algorithm, comm=comm,
        steps=steps, evaluate_every=20, relative_suboptimality=1e-8,
    )  # fmt: skip


@pytest.mark.mpi(min_size=4)
def test_on_the_papers_problem_it_needs_a_long_mix(comm, together):
    results = [
        paper_problem(comm, {"name": "opapc", "mix_rounds": M}, 4000) for M in (1, 12)
    ]
    mudag = paper_problem(comm, "mudag", 4000)
    with together:
        assert [result.status for result in results] == ["diverged", "converged"]
        assert "one has curvature -" in results[0].notes[0]
        assert mudag.status == "converged"
        assert mudag.counts["rounds"] < results[1].counts["rounds"]
