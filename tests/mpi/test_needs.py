"""What a method cannot do is refused; what its proof assumes is only told."""

from __future__ import annotations

import numpy as np
import pytest

import pmgt_mpi
from pmgt_mpi.algorithms import ALGORITHMS
from pmgt_mpi.mpi.collective import AgreedError
from tests.support.methods import TRAITS, fits


def rows(comm):
    rng = np.random.default_rng(comm.rank)
    A = rng.normal(size=(40, 4))
    return A, A.sum(axis=1)


RIDGE = {"kind": "ridge", "l2": 0.1}


def solve(comm, name, problem=RIDGE, **options):
    options = {"steps": 2, "reference": False, "comm": comm} | options
    return pmgt_mpi.solve(problem, *rows(comm), algorithm=name, **options)


@pytest.mark.parametrize("name", [n for n, t in TRAITS.items() if not t.proximal])
def test_a_method_without_a_proximal_step_refuses_a_regularizer(comm, together, name):
    with together, pytest.raises(AgreedError) as error:
        solve(comm, name, regularizer={"kind": "l1", "strength": 0.1})
    with together:
        assert str(error.value) == (
            f"{name} has no proximal step, which the regularizer L1 needs; take "
            f"{TRAITS[name].instead}, or the regularizer 'none' (a smooth l2 term is "
            "an option of the problem)"
        )
        assert TRAITS[TRAITS[name].instead].proximal


@pytest.mark.mpi(min_size=2)
@pytest.mark.parametrize("name", [n for n, t in TRAITS.items() if t.alone])
def test_a_method_for_one_machine_refuses_more(comm, together, name):
    with together, pytest.raises(AgreedError) as error:
        solve(comm, name)
    with together:
        assert str(error.value) == (
            f"{name} is a method for one machine, and there are {comm.size} agents; "
            f"take {TRAITS[name].instead}, which is the same method on a network, or "
            "start one rank"
        )


@pytest.mark.parametrize("name", [n for n, t in TRAITS.items() if t.linear])
def test_a_method_of_single_rows_refuses_what_is_no_convex_linear_model(
    comm, together, name
):
    with together, pytest.raises(AgreedError) as error:
        solve(comm, name, {"kind": "shift-invert-pca"})
    with together:
        assert str(error.value) == (
            f"{name} steps along single rows and needs a linear model with a convex "
            "loss, as ridge and logistic have, and ShiftInvertPCA has none; take "
            f"{TRAITS[name].instead}"
        )
        assert not TRAITS[TRAITS[name].instead].linear


@pytest.mark.parametrize("name", [n for n, t in TRAITS.items() if t.square])
def test_a_method_that_divides_by_the_l2_term_refuses_none(comm, together, name):
    with together, pytest.raises(AgreedError) as error:
        solve(comm, name, "ridge")
    with together:
        assert str(error.value) == (
            f"{name} divides by the strength of the problem's l2 term, and there is "
            f"none; set [problem] l2, or take {TRAITS[name].instead}"
        )


@pytest.mark.parametrize("name", ALGORITHMS)
def test_assumptions_that_hold_are_not_spoken_of(comm, together, name):
    if not fits(name, comm.size):
        return
    told = solve(comm, name).notes
    with together:
        assert not [note for note in told if "assumes" in note]
        assert len(told) == TRAITS[name].remembers


def test_components_that_are_not_convex(comm, together):
    result = solve(comm, "gt-svrg", {"kind": "shift-invert-pca"})
    fine = solve(comm, "pmgt-svrg", {"kind": "shift-invert-pca"})
    with together:
        assert result.notes == [
            "gt-svrg: its proof assumes convex components, which these are not"
        ]
        assert fine.notes == []


@pytest.mark.mpi(min_size=2)
def test_agents_that_are_not_convex(comm, together):
    A, _ = rows(comm)
    A[:, 0] *= 1 + 3 * comm.rank
    problem = {"kind": "shift-invert-pca"}
    result = pmgt_mpi.solve(problem, A, algorithm="nids", steps=1, comm=comm)
    with together:
        assert len(result.notes) == 1
        assert (
            "nids: its proof assumes that every agent's f_i is convex, and one has"
            in (result.notes[0])
        )


@pytest.mark.mpi(min_size=4)
def test_a_matrix_with_negative_eigenvalues(comm, together):
    told = solve(comm, "pmgt-svrg", weights="best-constant").notes
    with together:
        assert len(told) == 1
        assert told[0].startswith(
            "pmgt-svrg: its proof assumes 0 ⪯ W, and lambda_min is -0"
        )


def test_the_memory_of_a_table_is_told(comm, together):
    told = solve(comm, "gt-saga").notes
    with together:
        assert told == [
            "gt-saga remembers one number a row: 320 bytes for the 40 rows of the "
            "largest shard"
        ]
