"""When a method's theorem speaks of the parameters with which it runs."""

from __future__ import annotations

from dataclasses import replace
from math import isclose
from typing import Any

from pmgt_mpi.algorithms.base import Setting
from pmgt_mpi.errors import UserError


def as_in_theory(used: Any, setting: Setting, **exact: str) -> bool:
    """Whether η is at most the theorem's, M at least, and others are exactly its own.

    Parameters
    ----------
    used
        The method, its parameters numbers.
    setting
        What they depend on; the theorem's M grows with the number of steps.
    exact
        Parameters beside η and M that the theorem fixes once η is chosen, each
        ``"theory"``.
    """
    try:
        limit = replace(used, step_size="theory").resolve(setting)
        rest = replace(used, mix_rounds="theory", **exact).resolve(setting)
    except UserError:  # no theory without sigma > 0, 0 ⪯ W and constants
        return False
    return (
        used.step_size <= limit.step_size * (1 + 1e-12)
        and used.mix_rounds >= rest.mix_rounds
        and all(isclose(getattr(used, name), getattr(rest, name)) for name in exact)
    )
