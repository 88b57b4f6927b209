"""What a method that remembers gradients keeps of each row: a number, or a vector.

SAGA estimates ∇f_i(x) from a table φ of the rows' gradients where they were last taken,

    v = (1/b) Σ_{j ∈ B} (∇f_ij(x) − φ_j) + φ̄,   then φ_j = ∇f_ij(x) for j in B,

with φ̄ the mean of all φ, carried along so that a step costs O(b) and not O(n).
"""

from __future__ import annotations

from math import prod
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.problems.base import Problem

Array = NDArray[Any]

LINEAR = ("slopes", "combine", "common_grad")
"""Methods of a linear model (`pmgt_mpi.problems.linear`), which needs one number."""


class GradientTable(Protocol):
    """How a problem's table is filled and kept."""

    numbers: int
    """Numbers that the table holds for one row."""

    def fill(self, x: Array) -> tuple[Array, Array, Array]:
        """∇f_i(x), the table at x, and its mean φ̄."""
        ...

    def update(
        self, x: Array, rows: Array, table: Array, mean: Array
    ) -> tuple[Array, Array]:
        """The estimate v and the new φ̄; the table is changed in place."""
        ...


class SlopeTable:
    """Linear models: ∇f_ij(x) = φ'(⟨a_j, x⟩) a_j + c x + b, one number a row.

    The part c x + b is the same for all rows and known exactly at every x, so that only
    φ' has to be remembered: v has no variance from it.
    """

    numbers = 1

    def __init__(self, problem: Any) -> None:
        self._problem = problem

    def fill(self, x: Array) -> tuple[Array, Array, Array]:
        """∇f_i(x), φ' of every row at x, and the mean of φ' a."""
        slopes = self._problem.slopes(x)
        mean = self._problem.combine(slopes)
        return mean + self._problem.common_grad(x), slopes, mean

    def update(
        self, x: Array, rows: Array, table: Array, mean: Array
    ) -> tuple[Array, Array]:
        """As the module says, with φ_j = φ'_j a_j."""
        problem = self._problem
        new = problem.slopes(x, rows)
        change = new - table[rows]
        step = problem.combine(change, rows)
        estimate = step + mean
        estimate += problem.common_grad(x)
        first = np.unique(rows, return_index=True)[1]
        if len(first) < len(rows):  # a row drawn twice is stored once
            once = np.zeros_like(change)
            once[first] = change[first]
            step = problem.combine(once, rows)
        table[rows] = new
        return estimate, mean + (len(rows) / problem.rows) * step


class VectorTable:
    """Any problem: the whole gradient of every row."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self.numbers = prod(problem.shape)

    def fill(self, x: Array) -> tuple[Array, Array, Array]:
        """∇f_i(x), which is the mean too, and ∇f_ij(x) for every row."""
        table = self._gradients(x, np.arange(self._problem.rows))
        mean = table.mean(axis=0)
        return mean, table, mean

    def update(
        self, x: Array, rows: Array, table: Array, mean: Array
    ) -> tuple[Array, Array]:
        """As the module says."""
        new = self._gradients(x, rows)
        change = new - table[rows]
        estimate = change.mean(axis=0) + mean
        first = np.unique(rows, return_index=True)[1]
        table[rows] = new
        return estimate, mean + change[first].sum(axis=0) / self._problem.rows

    def _gradients(self, x: Array, rows: Array) -> Array:
        one_row = rows.reshape(-1, 1)
        return np.array([self._problem.minibatch_grad(x, row) for row in one_row])


def gradient_table(problem: Problem) -> GradientTable:
    """Return the smallest table that the problem allows."""
    if all(hasattr(problem, name) for name in LINEAR):
        return SlopeTable(problem)
    return VectorTable(problem)
