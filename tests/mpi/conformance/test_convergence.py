"""Every method reaches the exact minimiser with `auto` parameters, and rests there.

Five agents (one where the method is for one), shards that differ in size and in
distribution; ridge, and the lasso where the method has a proximal step.
"""

from __future__ import annotations

import numpy as np
import pytest

import pmgt_mpi
from tests.support.methods import TRAITS, asked

D = 6
EXACT = 1e-24
"""Relative suboptimality: distances of 1e-12."""


def own_rows(comm, tenths=10):
    """Rows and labels of this agent: 60 to 100, each agent with a signal of its own."""
    rng = np.random.default_rng([7, comm.rank])
    A = rng.normal(size=((6 + comm.rank) * tenths, D)) * np.geomspace(0.15, 1.5, D)
    A += 0.2 * rng.normal(size=D)
    x_true = np.arange(D) - 2.0 + 0.5 * rng.normal(size=D)
    return A, A @ x_true + 0.1 * rng.normal(size=len(A))


def condition(comm, l2, tenths):
    A, _ = own_rows(comm, tenths)
    G = comm.allreduce(A.T @ A) / comm.allreduce(len(A))
    values = np.linalg.eigvalsh(G) + l2
    return values[-1] / values[0]


def run(comm, name, psi, l2, tenths=10, **options):
    return pmgt_mpi.solve(
        {"kind": "ridge", "l2": l2},
        *own_rows(comm, tenths),
        regularizer="none" if psi == "none" else {"kind": "l1", "strength": 0.05},
        algorithm=asked(name),
        comm=comm,
        **options,
    )


def every(name):
    """Steps between evaluations."""
    if TRAITS[name].linear:
        return 50  # single rows
    return 1 if "T" in TRAITS[name].cost.gradients else 10


@pytest.fixture
def fitting(comm):
    """Methods and regularizers that this number of agents is for."""

    def fits(name, psi):
        traits = TRAITS[name]
        return comm.size == (1 if traits.alone else 5) and (
            psi == "none" or traits.proximal
        )

    return fits


@pytest.mark.parametrize("psi", ["none", "l1"])
@pytest.mark.parametrize("name", TRAITS)
def test_it_converges(comm, together, fitting, name, psi):
    if not fitting(name, psi):
        return
    tenths = 2 if TRAITS[name].linear else 10  # single rows: for time
    kappa = condition(comm, 0.005, tenths)
    # After a few single rows the mean is nearer to the minimiser than the agents are.
    target = 1e-9 if TRAITS[name].linear else 1e-7
    result = run(
        comm, name, psi, 0.005, tenths,
        steps=20_000, evaluate_every=every(name), relative_suboptimality=target,
    )  # fmt: skip
    with together:
        assert kappa > 50
        assert result.status == "converged"
        assert result.trace[-1]["consensus"] < 1e-5
        if psi == "l1":
            assert 0 < np.count_nonzero(result.reference) < D


@pytest.mark.parametrize("psi", ["none", "l1"])
@pytest.mark.parametrize("name", TRAITS)
def test_it_comes_to_rest(comm, together, fitting, name, psi):
    if not fitting(name, psi):
        return
    tenths = 2 if TRAITS[name].linear else 10  # single rows: for time
    # PG-EXTRA adds up differences, and remembers the rounding of its first steps.
    exact = 1e-20 if (name, psi) == ("pg-extra", "l1") else EXACT
    there = run(
        comm, name, psi, 1.0, tenths,
        steps=10_000, evaluate_every=every(name), relative_suboptimality=exact,
    )  # fmt: skip
    steps = there.counts["step"] + 10 * (1 + 9 * TRAITS[name].linear)
    further = run(comm, name, psi, 1.0, tenths, steps=steps, evaluate_every=0)
    with together:
        assert there.status == "converged"
        assert np.abs(further.x_local - there.x_local).max() < 1e-10
        assert further.counts["gradients"] > there.counts["gradients"]
