"""Where all agents hold the same rows, the minimiser is where every method stays."""

from __future__ import annotations

import numpy as np
import pytest

import pmgt_mpi
from tests.support.methods import METHODS, TRAITS, asked, fits

D = 6


def solve(comm, psi, **options):
    A = np.random.default_rng(4).normal(size=(30, D)) * np.linspace(0.5, 2, D)
    y = A @ np.array([1.0, -2, 0.05, 0, 3, 0.5]) + 0.1
    problem = {"kind": "ridge", "l2": 0.1}
    return pmgt_mpi.solve(problem, A, y, regularizer=psi, comm=comm, **options)


@pytest.mark.parametrize("psi", ["none", {"kind": "l1", "strength": 0.3}], ids=str)
@pytest.mark.parametrize("name", METHODS)
def test_a_method_that_starts_at_the_minimiser_stays_there(comm, together, name, psi):
    composite = psi != "none"
    if not fits(name, comm.size) or (composite and not TRAITS[name].proximal):
        return
    x_star = solve(comm, psi, steps=1).reference
    algorithm = asked(name, **vars(METHODS[name]))
    result = solve(comm, psi, algorithm=algorithm, x0=x_star, steps=20)
    with together:
        assert composite == (np.count_nonzero(x_star) < D)
        assert np.abs(result.x_local - x_star).max() < 1e-13
        assert max(record["consensus"] for record in result.trace) < 1e-26
        assert result.status == "budget"
