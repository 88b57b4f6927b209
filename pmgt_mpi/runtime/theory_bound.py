"""What a method's theorem promises of the run that is made, for the log."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pmgt_mpi.algorithms.base import Setting
from pmgt_mpi.problems.reference import minimise
from pmgt_mpi.problems.suboptimality import suboptimality
from pmgt_mpi.runtime.stage import Stage

Bound = Callable[[int], float | None]
"""From the step to the largest expected F − F*, or None where nothing is promised."""


def theory_bound(stage: Stage, algorithm: Any, setting: Setting) -> Bound:
    """Give the bound of a method with parameters as used; collective.

    A theorem bounds E[F(y^k) − F*] by factor(k) (F(y^0) − F*). With epsilon it speaks
    of F_ε, and as F ≤ F_ε it follows that

    E[F(y^k) − F*] ≤ F_ε(x*_ε) − F* + factor(k) (F_ε(y^0) − F_ε(x*_ε)).
    """
    factor = algorithm.bound(setting) if hasattr(algorithm, "bound") else None
    if factor is None or stage.reference is None:
        return nothing
    start, offset = stage.objective().suboptimality(stage.x0), 0.0
    assert start is not None
    if stage.epsilon_f is not None:
        start, offset = _with_epsilon(stage)
    return lambda step: offset + factor(step) * start


def nothing(_: int) -> None:
    """No bound at any step."""


def _with_epsilon(stage: Stage) -> tuple[float, float]:
    """F_ε(y^0) − F_ε(x*_ε), and F_ε(x*_ε) − F*."""
    everybody = (stage.regularizer, stage.collective, stage.weight)
    found = minimise(stage.problem, *everybody, stage.constants)
    assert found is not None  # F has a reference, so F_ε has one
    start = suboptimality(stage.problem, *everybody, found, stage.x0)
    gap = stage.objective().suboptimality(found.x)
    assert gap is not None
    assert stage.epsilon_f is not None
    return start, gap + 0.5 * stage.epsilon_f * float(np.vdot(found.x, found.x))
