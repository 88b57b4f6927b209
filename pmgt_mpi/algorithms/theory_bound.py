"""When a method's theorem speaks of the parameters with which it runs."""

from __future__ import annotations

from dataclasses import replace
from math import isclose
from typing import Any

from pmgt_mpi.algorithms.base import Setting
from pmgt_mpi.errors import UserError


def as_in_theory(used: Any, setting: Setting, **exact: str) -> bool:
    """Whether η is at most the theorem's, and M rounds contract as it asks.

    Parameters
    ----------
    used
        The method, its parameters numbers, with `theory_rho`.
    setting
        What they depend on; the theorem's rho falls with the number of steps.
    exact
        Parameters beside η and M that the theorem fixes once η is chosen, each
        ``"theory"``: they must be exactly those.
    """
    try:
        limit = replace(used, step_size="theory").resolve(setting)
        rest = replace(used, **exact).resolve(setting)
        rho = used.theory_rho(setting)
    except (UserError, ArithmeticError):  # no theory without sigma > 0 and constants
        return False
    return (
        setting.psd
        and used.step_size <= limit.step_size * (1 + 1e-12)
        and setting.contraction(used.mix_rounds) <= rho
        and all(isclose(getattr(used, name), getattr(rest, name)) for name in exact)
    )
