"""A setting with plain numbers, and a notebook of the contractions asked of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pmgt_mpi.algorithms.base import Setting
from pmgt_mpi.problems.base import Constants

ROUNDS = 17
"""What the notebook answers, whatever contraction is asked for."""

CONSTANTS = Constants(L=2.0, l1=3.0, l2=5.0, sigma=0.05, L_local=2.5)


class Notebook:
    """Stands for `rounds_for`, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[float] = []

    def __call__(self, rho: float) -> int:
        self.asked.append(rho)
        return ROUNDS


def setting(**changes: Any) -> Setting:
    """b = 55 and t0 = 55 with the default batch size; t0 = 60 with b = 50."""
    base = Setting(
        agents=20,
        n=3000,
        least_rows=2990,
        constants=CONSTANTS,
        sigma_psi=0.01,
        lambda_2=0.97,
        lambda_min=0.1,
        psd=True,
        own_weight=0.6,
        steps=40,
        mix_rounds="auto",
        rounds_for=Notebook(),
        contraction=lambda M: 0.0 if M >= ROUNDS else 1.0,
        round_cost=costing(100.0),
    )
    return base._replace(**changes)


def costing(c: float) -> Callable[[], float]:
    """A `round_cost` that is known."""
    return lambda: c


def asked(of: Setting) -> list[float]:
    """The contractions that were asked for."""
    notebook = of.rounds_for
    assert isinstance(notebook, Notebook)
    return notebook.asked
