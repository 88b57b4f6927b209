"""How far a point is from optimal: F(x) − F(x*), to its last digits."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.optimum.mean_function import MeanFunction
from pmgt_mpi.optimum.reference import Reference
from pmgt_mpi.problems.base import Problem
from pmgt_mpi.regularizers.base import Regularizer

Array = NDArray[Any]


def suboptimality(
    problem: Problem,
    regularizer: Regularizer,
    collective: Collective,
    weight: float,
    reference: Reference,
    x: Array,
) -> float:
    """F(x) − F(x*); collective.

    The plain difference stops at 1e-16 |F|. So it is added up from

    [f(x) − f(x*) − ⟨∇f(x*), x − x*⟩] + [psi(x) − psi(x*) + ⟨∇f(x*), x − x*⟩],

    two parts that are never negative and of which each is formed without
    cancellation; only where a problem has no `bregman` is it the plain difference.

    Parameters
    ----------
    problem, regularizer
        f_i of this agent, and psi.
    collective
        All agents; every one of them must make this call, with the same x.
    weight
        m n_i / N, with which f_i enters the mean.
    reference
        x*.
    x
        The point, float64 for all digits.
    """
    f = MeanFunction(problem, collective, weight)
    if not hasattr(problem, "bregman"):
        return f.value(x) + regularizer.value(x) - reference.objective
    smooth = f.bregman(x, reference.x)
    return smooth + regularizer.excess(x, reference.x, reference.grad)
