"""The bounds of the paper's theorems, and where the theorems do not speak."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

import pytest

from pmgt_mpi.algorithms import ALGORITHMS
from pmgt_mpi.algorithms.pmgt_katyushax import PMGTKatyushaX
from pmgt_mpi.algorithms.pmgt_svrg import PMGTSVRG
from pmgt_mpi.gossip.polynomials import (
    contraction,
    contractions,
    fastmix,
    rounds_for,
)
from tests.unit.algorithms.settings import CONSTANTS, ROUNDS, asked, setting

ETA = sqrt(50 / (3.0 * 5.0 * 60)) / 8
SIGMA = 0.06
KATYUSHAX = PMGTKatyushaX(
    batch_size=50, step_size="theory", momentum="theory", mix_rounds="theory"
)
SVRG = PMGTSVRG(batch_size=50, step_size="theory", mix_rounds="theory")


def bound(method, **changes):
    """Of a method after its words have become numbers, and then other numbers."""
    s = setting()
    return replace(method.resolve(s), **changes).bound(s)


def test_katyushax():
    tau = sqrt(60 * ETA * SIGMA) / 2
    for k in (0, 1, 2, 40):
        assert bound(KATYUSHAX)(k) == pytest.approx(3 / (1 + tau / 2) ** k, rel=1e-12)


def test_svrg():
    rate = 60 * ETA * SIGMA
    for k in (0, 1, 2, 40):
        expected = (2 + 1 / rate) / (1 + rate / 4) ** k
        assert bound(SVRG)(k) == pytest.approx(expected, rel=1e-12)


def test_a_smaller_step_and_more_rounds_are_within_the_theorem():
    small = PMGTKatyushaX(
        batch_size=50, step_size=ETA / 2, momentum="theory", mix_rounds=2 * ROUNDS
    )
    tau = sqrt(60 * ETA / 2 * SIGMA) / 2
    assert bound(small)(7) == pytest.approx(3 / (1 + tau / 2) ** 7, rel=1e-12)
    assert bound(SVRG, mix_rounds=ROUNDS + 1) is not None


@pytest.mark.parametrize(
    "changes",
    [
        {"step_size": 1.01 * ETA},
        {"mix_rounds": ROUNDS - 1},
        {"momentum": 0.3},
        {"momentum": 1e-100},
        {"step_size": 1e-300},
    ],
    ids=str,
)
def test_other_parameters_have_no_bound(changes):
    assert bound(KATYUSHAX, **changes) is None
    if "momentum" not in changes:
        assert bound(SVRG, **changes) is None


@pytest.mark.parametrize(
    "changes",
    [
        {"psd": False},
        {"constants": None},
        {"constants": CONSTANTS._replace(sigma=0.0)},
        {"constants": CONSTANTS._replace(sigma=0.0), "sigma_psi": 0.0},
    ],
    ids=str,
)
def test_where_there_is_no_theory_there_is_no_bound(changes):
    for method in (KATYUSHAX, SVRG):
        assert method.resolve(setting()).bound(setting(**changes)) is None


def test_which_methods_have_one():
    having = {name for name in ALGORITHMS if hasattr(ALGORITHMS.load(name), "bound")}
    assert having >= {"pmgt-katyushax", "pmgt-svrg"}
    assert having.isdisjoint({"nids", "pg-extra"})


@pytest.mark.parametrize("method", [KATYUSHAX, SVRG])
def test_more_rounds_that_contract_less_have_no_bound(method):
    """FastMix where all agents are connected: its contraction rises and falls."""
    curious = setting()
    method.resolve(curious)
    [rho] = asked(curious)
    s = setting(
        rounds_for=lambda rho: rounds_for(fastmix, rho, 0.5, 0.5),
        contraction=lambda M: contraction(fastmix, M, 0.5, 0.5),
    )
    enough = method.resolve(s)
    reached = dict(zip(range(1, 200), contractions(fastmix, 0.5, 0.5), strict=False))
    spoken_of = {
        M for M in reached if replace(enough, mix_rounds=M).bound(s) is not None
    }
    assert spoken_of == {M for M in reached if reached[M] <= rho}
    assert enough.mix_rounds == min(spoken_of)
    assert spoken_of != set(range(min(spoken_of), 200)), "more, but not all"
