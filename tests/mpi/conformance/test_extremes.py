"""Data of zeros and constants that are no numbers: a run, or one sentence."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest

import pmgt_mpi
from pmgt_mpi.algorithms import ALGORITHMS
from pmgt_mpi.mpi.collective import AgreedError
from pmgt_mpi.problems.base import Constants
from tests.support.methods import METHODS, TRAITS, asked, fits

N, D = 12, 3


def solve(comm, problem, algorithm, scale=0.0, **options):
    rows = scale * np.random.default_rng(comm.rank).standard_normal((N, D))
    given = {"steps": 3, "engine": "python", "comm": comm} | options
    return pmgt_mpi.solve(problem, rows, np.zeros(N), algorithm=algorithm, **given)


@pytest.mark.parametrize("name", METHODS)
def test_zeros_are_a_flat_f_that_numbers_can_run_on(comm, together, name):
    if not fits(name, comm.size) or TRAITS[name].square:
        return  # no l2 term here
    psi = {"kind": "l1", "strength": 0.1} if TRAITS[name].proximal else "none"
    start = np.full(D, 2.0)
    numbers = asked(name, **asdict(METHODS[name]))
    result = solve(comm, "ridge", numbers, x0=start, regularizer=psi)
    last = result.trace[-1]
    with together:
        assert result.status == "budget"
        assert result.reference.tolist() == [0.0] * D
        if psi == "none":
            np.testing.assert_allclose(result.x, start, rtol=1e-13)
            assert last["suboptimality"] == last["objective"] == 0.0
        else:
            assert (result.x < start).all()
            assert 0.0 < last["suboptimality"] == pytest.approx(last["objective"])


@pytest.mark.parametrize("name", METHODS)
def test_zeros_give_no_step(comm, together, name):
    if not fits(name, comm.size) or TRAITS[name].square:
        return
    if name not in ALGORITHMS:
        pytest.skip(f"{name} is not registered: its words and sentences are its own")
    with together, pytest.raises(AgreedError) as told:
        solve(comm, "ridge", name)
    with together:
        assert str(told.value).startswith(
            f"{name}: step_size = 'auto' is made of L, which is 0 here: f is flat"
        )


@pytest.mark.parametrize("scale", [1e-160, 1e150])
def test_rows_whose_squares_are_no_numbers(comm, together, scale):
    with together, pytest.raises(AgreedError) as told:
        solve(comm, "ridge", "nids", scale)
    with together:
        assert str(told.value).startswith("the problem's constants are L = ")
        assert str(told.value).endswith("; scale the data, or take other numbers in "
                                        "[problem]")  # fmt: skip


GOOD = Constants(L=1.0, l1=1.0, l2=1.0, sigma=0.5, L_local=1.0, mu_local=0.5)


@pytest.mark.parametrize(
    "name", [name for name, one in GOOD._asdict().items() if not isinstance(one, bool)]
)
@pytest.mark.parametrize("value", [np.nan, np.inf, 1e200])
def test_constants_of_a_user_that_are_no_numbers(comm, together, name, value):
    class Own:
        shape, rows = (D,), N

        def value(self, x):
            return float(x @ x) / 2

        def grad(self, x):
            return x.copy()

        def minibatch_grad(self, x, rows):  # noqa: ARG002
            return x.copy()

        def constants(self, collective):  # noqa: ARG002
            return GOOD._replace(**{name: value})

    with together, pytest.raises(AgreedError) as told:
        pmgt_mpi.solve(Own(), algorithm="nids", steps=2, comm=comm)
    with together:
        assert "the problem's constants are L = " in str(told.value)
