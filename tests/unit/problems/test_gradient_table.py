"""Tables of remembered gradients: a number a row where that will do, or a vector."""

from __future__ import annotations

import numpy as np
import pytest
from mpi4py import MPI

from pmgt_mpi.data.shard import Shard
from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.problems import PROBLEMS
from pmgt_mpi.problems.gradient_table import SlopeTable, VectorTable, gradient_table

N, D = 20, 4
LINEAR = ["ridge", "logistic", "shift-invert-pca"]


def problem_of(kind):
    rng = np.random.default_rng(3)
    A = rng.normal(size=(N, D))
    shard = Shard(A, np.sign(rng.normal(size=N)), N, 1)
    return PROBLEMS.load(kind)(shard, Collective(MPI.COMM_SELF))


class Hidden:
    """A problem of which only the three methods that every one has can be seen."""

    def __init__(self, problem):
        self.rows, self.shape = problem.rows, problem.shape
        self.value, self.grad = problem.value, problem.grad
        self.minibatch_grad = problem.minibatch_grad


@pytest.mark.parametrize("kind", LINEAR)
def test_a_linear_model_needs_one_number_a_row(kind):
    table = gradient_table(problem_of(kind))
    assert isinstance(table, SlopeTable)
    g, slopes, mean = table.fill(np.ones(D))
    np.testing.assert_allclose(g, problem_of(kind).grad(np.ones(D)), rtol=1e-12)
    assert slopes.shape == (N,)
    assert mean.shape == (D,)
    assert table.numbers == 1


def test_any_other_problem_needs_a_vector():
    table = gradient_table(Hidden(problem_of("ridge")))
    assert isinstance(table, VectorTable)
    g, vectors, _ = table.fill(np.ones(D))
    np.testing.assert_allclose(g, problem_of("ridge").grad(np.ones(D)), rtol=1e-12)
    assert vectors.shape == (N, D)
    assert table.numbers == D


@pytest.mark.parametrize("kind", LINEAR)
@pytest.mark.parametrize("hide", [False, True])
def test_the_estimate_is_sagas_and_a_row_drawn_twice_is_stored_once(kind, hide):
    problem = problem_of(kind)
    table = gradient_table(Hidden(problem) if hide else problem)
    rng = np.random.default_rng(8)

    def row_gradient(j, x):
        whole = problem.minibatch_grad(x, np.array([j]))
        return whole if hide else whole - problem.common_grad(x)

    x = rng.normal(size=D)
    _, entries, mean = table.fill(x)
    phi = np.array([row_gradient(j, x) for j in range(N)])
    for rows in ([3, 3, 7], [0, 1, 2, 3], [5], [7, 3, 7, 7, 9]):
        x = x + 0.1 * rng.normal(size=D)
        new = {j: row_gradient(j, x) for j in rows}
        expected = np.mean([new[j] - phi[j] for j in rows], axis=0) + phi.mean(axis=0)
        if not hide:
            expected += problem.common_grad(x)
        estimate, mean = table.update(x, np.array(rows), entries, mean)
        for j, gradient in new.items():
            phi[j] = gradient
        np.testing.assert_allclose(estimate, expected, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(mean, phi.mean(axis=0), rtol=1e-12, atol=1e-14)


def test_an_update_costs_the_batch_and_not_the_shard():
    class Watched:
        """Refuses to look at all rows after the table has been filled."""

        def __init__(self, problem):
            self.rows, self.shape, self.filled = problem.rows, problem.shape, False
            self.problem = problem
            self.common_grad = problem.common_grad

        def slopes(self, x, rows=None):
            assert rows is not None or not self.filled
            return self.problem.slopes(x, rows)

        def combine(self, slopes, rows=None):
            assert rows is not None or not self.filled
            return self.problem.combine(slopes, rows)

    watched = Watched(problem_of("ridge"))
    table = gradient_table(watched)
    _, entries, mean = table.fill(np.ones(D))
    watched.filled = True
    kept = entries
    table.update(np.zeros(D), np.array([1, 1, 2]), entries, mean)
    assert entries is kept
    assert (
        entries != gradient_table(problem_of("ridge")).fill(np.ones(D))[1]
    ).sum() == 2
