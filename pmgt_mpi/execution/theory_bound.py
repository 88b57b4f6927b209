"""What a method's theorem promises of the run that is made, for the log."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pmgt_mpi.algorithms.base import Setting
from pmgt_mpi.execution.setup import Setup
from pmgt_mpi.optimum.reference import Reference, minimise, suboptimality

Bound = Callable[[int], float | None]
"""From the step to the largest expected F − F*, or None where nothing is promised."""


def theory_bound(setup: Setup, algorithm: Any, setting: Setting) -> Bound:
    """Return the bound of a method with parameters as used; collective.

    A theorem bounds E[F(y^k) − F*] by factor(k) (F(y^0) − F*). With epsilon it speaks
    of F_ε, and as F ≤ F_ε it follows that

    E[F(y^k) − F*] ≤ F_ε(x*_ε) − F* + factor(k) (F_ε(y^0) − F_ε(x*_ε)).

    A theorem knows no rounding: once its factor promises less than `rounding_floor`,
    which in float32 can be soon, nothing is told.
    """
    factor = algorithm.bound(setting) if hasattr(algorithm, "bound") else None
    if factor is None or setup.reference is None:
        return no_bound
    minimiser, offset = setup.reference, 0.0
    start = setup.objective().suboptimality(setup.x0)
    if setup.epsilon_f is not None:
        minimiser, start, offset = _with_epsilon(setup)
    assert start is not None
    floor = rounding_floor(
        algorithm, setting, minimiser, float(np.finfo(setup.x0.dtype).eps)
    )

    def bound(step: int) -> float | None:
        promised = factor(step) * start
        return offset + promised if promised >= floor else None

    return bound


def no_bound(_: int) -> None:
    """No bound at any step."""


def rounding_floor(
    used: Any, setting: Setting, minimiser: Reference, eps: float
) -> float:
    """Return what rounding to a relative eps may leave of F − F*.

    M rounds, each rounded, move an iterate by up to about e = M eps ‖x*‖. An inner step
    takes ησ of an error away, so that errors add up to e/(ησ), where F − F* is up to
    (L/2)(e/(ησ))². To the first order it is up to ‖∇f(x*)‖ e, which only a psi can
    make differ from 0, and its prox keeps from adding up. In runs with float32 F − F*
    has ended at a tenth to a thousandth of the sum.

    Parameters
    ----------
    used
        The method, its parameters numbers, among them `step_size` and `mix_rounds`.
    setting
        For L and sigma, without which no theorem speaks.
    minimiser
        x* of the F that the theorem speaks of, and ∇f(x*).
    eps
        Of the type of the iterates.
    """
    constants = setting.constants
    assert constants is not None
    sigma = constants.sigma + setting.sigma_psi
    e = float(used.mix_rounds * eps * np.linalg.norm(minimiser.x))
    added_up = e / float(used.step_size * sigma)
    first = float(np.linalg.norm(minimiser.grad)) * e
    return first + 0.5 * constants.L * added_up**2


def _with_epsilon(setup: Setup) -> tuple[Reference, float, float]:
    """x*_ε, F_ε(y^0) − F_ε(x*_ε), and F_ε(x*_ε) − F*."""
    everybody = (setup.regularizer, setup.collective, setup.weight)
    found = minimise(setup.problem, *everybody, setup.constants)
    assert found is not None  # F has a reference, so F_ε has one
    start = suboptimality(setup.problem, *everybody, found, setup.x0)
    gap = setup.objective().suboptimality(found.x)
    assert gap is not None
    assert setup.epsilon_f is not None
    offset = gap + 0.5 * setup.epsilon_f * float(np.vdot(found.x, found.x))
    return found, start, offset
