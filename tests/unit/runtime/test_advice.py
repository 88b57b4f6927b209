"""Advice on divergence names the step that was used and the theory's."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from pmgt_mpi.algorithms import ALGORITHMS
from pmgt_mpi.errors import UserError
from pmgt_mpi.runtime.advice import advice
from tests.unit.algorithms.settings import setting


@dataclass(frozen=True)
class NoTheory:
    step_size: float = 2.0

    def resolve(self, setting):  # noqa: ARG002
        raise UserError("the paper gives none")


@dataclass(frozen=True)
class NoStep:
    power: float = 2.0


STEPPED = [n for n in ALGORITHMS if hasattr(ALGORITHMS.load(n)(), "step_size")]


@pytest.mark.parametrize("name", STEPPED)
def test_every_method_tells_its_theory(name):
    method = ALGORITHMS.load(name)()
    used = replace(method.resolve(setting()), step_size=77.0)
    told = advice("mine", used, setting())
    assert told.startswith("mine diverged: take a smaller step_size (77 was used")
    assert ("more mix_rounds" in told) == hasattr(used, "mix_rounds")


def test_nids_gives_one_over_L():
    here = setting()
    used = ALGORITHMS.load("nids")(step_size=9.0)
    assert advice("nids", used, here) == (
        "nids diverged: take a smaller step_size (9 was used, the theory gives "
        f"{1 / here.constants.L_local:.3g})"
    )


def test_gt_svrg_has_no_theory_here_and_tells_autos_step():
    here = setting()
    auto = ALGORITHMS.load("gt-svrg")().resolve(here)
    told = advice("gt-svrg", replace(auto, step_size=9.0), here)
    assert told == (
        "gt-svrg diverged: take a smaller step_size (9 was used, auto gives "
        f"{auto.step_size:.3g})"
    )


def test_where_there_is_no_theory():
    told = "a diverged: take a smaller step_size (2 was used; the theory's cannot be "
    assert advice("a", NoTheory(), setting()) == told + "told: the paper gives none)"
    assert advice("a", NoStep(), setting()) == "a diverged: change its parameters"
