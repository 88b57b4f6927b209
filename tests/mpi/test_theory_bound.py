"""With the theory's parameters a run stays below the theory's bound."""

from __future__ import annotations

import numpy as np
import pytest

import pmgt_mpi
from pmgt_mpi.problems.base import Constants

N, D, EPOCHS, SEEDS = 100, 4, 32, 10
THEORY = {"step_size": "theory", "mix_rounds": "theory"}
METHODS = {
    "pmgt-katyushax": {**THEORY, "momentum": "theory"},
    "pmgt-svrg": THEORY,
}
PROBLEM = {"kind": "indefinite-quadratic", "condition": 1.2, "l1": 1.5, "l2": 1.5}


def own_rows(comm):
    rows = np.random.default_rng(0).standard_normal((N, D))
    return np.array_split(rows, comm.size)[comm.rank]


def trace(comm, name, problem=PROBLEM, labels=None, **options):
    given = {"steps": EPOCHS, "theory_bound": True, **options}
    algorithm = {"name": name, **METHODS.get(name, {})}
    return pmgt_mpi.solve(
        problem, own_rows(comm), labels, algorithm=algorithm, comm=comm, **given
    )


def column(result, name):
    return np.array([record[name] for record in result.trace], float)


@pytest.mark.mpi(min_size=4)
@pytest.mark.parametrize("name", METHODS)
def test_the_mean_of_ten_seeds_is_below_the_bound_at_every_epoch(comm, together, name):
    if comm.size != 4:
        return  # for time
    results = [trace(comm, name, seed=seed) for seed in range(SEEDS)]
    bound = column(results[0], "theory_bound")
    measured = np.mean([column(r, "suboptimality") for r in results], axis=0)
    with together:
        assert len(bound) == EPOCHS + 1
        assert np.all(measured <= bound)
        # It is not empty: from above the start it has come to below it.
        assert bound[0] > measured[0] > 2 * bound[-1]
        assert np.all(np.diff(bound) < 0)
        assert measured[0] > measured[-1] > 0
        assert len({r.counts["gradients"] for r in results}) > 1, "seeds differ"
        if comm.size > 1:
            assert results[0].parameters["mix_rounds"] > 1


class Mean:
    """f_ij(x) = ½ ‖x − a_ij‖²; without a Hessian nobody finds its minimiser."""

    def __init__(self, A):
        self.A, self.rows, self.shape = A, len(A), (D,)

    def value(self, x):
        return float(((self.A - x) ** 2).sum(axis=1).mean() / 2)

    def grad(self, x):
        return x - self.A.mean(axis=0)

    def minibatch_grad(self, x, rows):
        return x - self.A[rows].mean(axis=0)

    def constants(self, collective):  # noqa: ARG002
        return Constants(L=1.0, l1=1.0, l2=1.0, sigma=1.0, L_local=1.0, mu_local=1.0)


def test_null_and_absence(comm, together):
    def last(name, problem=PROBLEM, **options):
        return trace(comm, name, problem, steps=1, **options).trace[-1]

    nids = last("nids")
    blind = last("pmgt-svrg", problem=Mean(own_rows(comm)))
    silent = last("pmgt-svrg", theory_bound=False)
    with together:
        assert blind["suboptimality"] is None
        assert nids["theory_bound"] is None
        assert blind["theory_bound"] is None
        assert "theory_bound" not in silent


def test_with_epsilon_it_bounds_F_itself(comm, together):
    """Least squares in one direction that the rows do not see."""
    rows = own_rows(comm)
    rows[:, -1] = rows[:, 0]
    labels = rows @ [1.0, -2.0, 0.5, 3.0]
    epsilon = 0.5
    result = pmgt_mpi.solve(
        "ridge", rows, labels, steps=8, theory_bound=True, epsilon=epsilon,
        algorithm={"name": "pmgt-katyushax", **METHODS["pmgt-katyushax"]}, comm=comm,
    )  # fmt: skip
    tau = result.parameters["momentum"]
    bound, measured = column(result, "theory_bound"), column(result, "suboptimality")
    steps = np.arange(9)
    fall = bound - bound[0] * (1 + tau / 2) ** -steps
    # bound = offset + 3 (1 + τ/2)^−k start, solved for the offset.
    offset = fall[1:] / (1 - (1 + tau / 2) ** -steps[1:])
    with together:
        np.testing.assert_allclose(offset, offset[0], rtol=1e-9)
        assert 0 < offset[0] <= epsilon * (1 + 1e-12)
        assert np.all(measured <= bound)
        # F_ε(y⁰) − F_ε(x*_ε) = F(y⁰) − F* − offset, as F_ε(0) = F(0).
        start = (bound[0] - offset[0]) / 3
        assert start == pytest.approx(measured[0] - offset[0], rel=1e-9)
