"""Advice on divergence names the step that was used and the theory's."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from pmgt_mpi.algorithms import ALGORITHMS
from pmgt_mpi.errors import UserError
from pmgt_mpi.execution.advice import advice
from tests.unit.algorithms.settings import CONSTANTS, setting


@dataclass(frozen=True)
class NoTheory:
    step_size: float = 2.0

    def resolve(self, setting):  # noqa: ARG002
        raise UserError("the paper gives none")


@dataclass(frozen=True)
class NoStep:
    power: float = 2.0


STEPPED = [n for n in ALGORITHMS if hasattr(ALGORITHMS.load(n)(), "step_size")]


WITH_THEORY = [
    "pmgt-katyushax",
    "pmgt-svrg",
    "katyushax",
    "svrg",
    "pg-extra",
    "nids",
    "extra",
    "exact-diffusion",
    "p2d2",
    "dgt",
    "mudag",
    "adfs",
    "dvr",
    "opapc",
    "saga",
]


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
        f"{auto.step_size:.3g}), or a method made for nonconvex f_ij, such as pmgt-svrg"
    )


@pytest.mark.parametrize("name", STEPPED)
@pytest.mark.parametrize("factor", [1.0, 0.999, 0.1])
def test_a_step_that_is_no_smaller_is_no_advice(name, factor):
    """Every word that the method has for its step gives one that diverged already."""
    here = setting()
    method = ALGORITHMS.load(name)()
    words = ["auto", *(["theory"] if name in WITH_THEORY else [])]
    least = min(replace(method, step_size=w).resolve(here).step_size for w in words)
    used = replace(method.resolve(here), step_size=factor * least)
    told = advice("mine", used, here)
    whose = "auto gives" if len(words) == 1 else "the theory and auto give"
    assert told.startswith(
        f"mine diverged: take a step_size well below the {factor * least:.3g} that was "
        f"used ({whose} no smaller one)"
    )


def test_auto_is_named_where_it_is_smaller_than_the_theory():
    here = setting(constants=CONSTANTS._replace(mu_local=-0.5), lambda_2=0.9)
    nids = ALGORITHMS.load("nids")(step_size="theory").resolve(here)
    assert advice("nids", nids, here) == (
        "nids diverged: take a smaller step_size (0.4 was used, auto gives 0.1), or a "
        "method made for nonconvex f_ij, such as pmgt-svrg"
    )


def test_a_method_made_for_what_is_solved_is_named():
    told = advice("a", ALGORITHMS.load("gt-saga")(step_size=9.0), setting())
    assert told.endswith("or a method made for nonconvex f_ij, such as pmgt-svrg")
    convex = setting(constants=CONSTANTS._replace(convex=True))
    for name, here in (
        ("gt-saga", convex), ("pg-extra", setting()), ("dearest", setting())
    ):  # fmt: skip
        used = replace(ALGORITHMS.load(name)().resolve(here), step_size=9.0)
        assert "nonconvex" not in advice("a", used, here)


def test_one_agent_is_not_told_to_mix_more():
    used = ALGORITHMS.load("pmgt-svrg")(step_size=9.0).resolve(setting())
    assert "more mix_rounds (17 were used)" in advice("a", used, setting())
    assert "mix_rounds" not in advice("a", used, setting(agents=1))


def test_where_there_is_no_theory():
    told = "a diverged: take a smaller step_size (2 was used; the theory's cannot be "
    assert advice("a", NoTheory(), setting()) == told + "told: the paper gives none)"
    assert advice("a", NoStep(), setting()) == "a diverged: change its parameters"
