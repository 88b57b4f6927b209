"""Every variable of every algorithm equals that of the matrix form, epoch by epoch."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from pmgt_mpi.algorithms.nids import NIDS
from pmgt_mpi.algorithms.pg_extra import PGExtra
from pmgt_mpi.algorithms.pmgt_katyushax import PMGTKatyushaX
from pmgt_mpi.algorithms.pmgt_svrg import PMGTSVRG
from pmgt_mpi.gossip import MIXINGS
from tests.reference import matrix_form
from tests.support.small_world import KINDS, Case, D

EPOCHS = 30
ITERATIONS = 300
TOLERANCE = 1e-11


def compare(case, ours, reference, names) -> None:
    """Each variable, after each step, to 1e-11 of its largest norm in the run.

    Agent 0 alone runs the matrix form and compares.
    """
    if case.comm.rank != 0:
        return
    reference = list(reference)
    assert len(ours) == len(reference)
    for name in names:
        pairs = [
            (mine[name], theirs[name])
            for mine, theirs in zip(ours, reference, strict=True)
            if name in theirs
        ]
        scale = max(np.linalg.norm(theirs) for _, theirs in pairs)
        assert 0 < scale < 1e6
        for step, (mine, theirs) in enumerate(pairs):
            error = np.linalg.norm(mine - theirs) / scale
            assert error <= TOLERANCE, f"{name} after step {step}: {error:.1e}"


FIELDS = ("kind", "equal", "l1", "mixing")
SHARDS_AND_PSI = list(product([True, False], [0.0, 0.05]))

mixing_cases = pytest.mark.parametrize(
    FIELDS,
    [("pca", *case, mixing) for case in SHARDS_AND_PSI for mixing in MIXINGS]
    + [
        (kind, *case, "chebyshev")
        for kind in ("ridge", "logistic")
        for case in SHARDS_AND_PSI
    ],
)
plain_cases = pytest.mark.parametrize(
    FIELDS, [(kind, *case, "plain") for kind in KINDS for case in SHARDS_AND_PSI]
)


@mixing_cases
def test_pmgt_katyushax(comm, together, kind, equal, l1, mixing):
    case = Case(comm, kind, equal=equal, l1=l1, mixing=mixing)
    method = PMGTKatyushaX(batch_size=3, step_size=0.02, momentum=0.3, mix_rounds=10)
    ours = case.states(method, EPOCHS)
    T, batches = case.chance()
    with together:
        reference = matrix_form.pmgt_katyushax(
            case.world, np.full(D, 0.3), T=T, batches=batches, eta=0.02, tau=0.3, M=10
        )
        compare(case, ours, reference, ["x", "y", "q", "s_hat", "grad_x"])
        assert comm.rank or all(next(rest, None) is None for rest in batches)
    case.close()


@mixing_cases
def test_pmgt_svrg(comm, together, kind, equal, l1, mixing):
    case = Case(comm, kind, equal=equal, l1=l1, mixing=mixing)
    method = PMGTSVRG(batch_size=4, step_size=0.02, mix_rounds=9)
    ours = case.states(method, EPOCHS)
    T, batches = case.chance()
    with together:
        reference = matrix_form.pmgt_svrg(
            case.world, np.full(D, 0.3), T=T, batches=batches, eta=0.02, M=9
        )
        compare(case, ours, reference, ["x", "y", "s_hat", "grad_x"])
        assert comm.rank or all(next(rest, None) is None for rest in batches)
    case.close()


@plain_cases
def test_pg_extra(comm, together, kind, equal, l1, mixing):
    case = Case(comm, kind, equal=equal, l1=l1, mixing=mixing)
    ours = case.states(PGExtra(step_size=0.05), ITERATIONS)
    with together:
        reference = matrix_form.pg_extra(
            case.world, np.full(D, 0.3), alpha=0.05, iterations=ITERATIONS
        )
        compare(case, ours, reference, ["x", "h"])
    case.close()


@plain_cases
def test_nids(comm, together, kind, equal, l1, mixing):
    case = Case(comm, kind, equal=equal, l1=l1, mixing=mixing)
    ours = case.states(NIDS(step_size=0.05), ITERATIONS)
    with together:
        reference = matrix_form.nids(
            case.world, np.full(D, 0.3), alpha=0.05, iterations=ITERATIONS
        )
        compare(case, ours, reference, ["x", "z"])
    case.close()
