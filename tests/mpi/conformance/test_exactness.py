"""Every variable of every algorithm equals that of the matrix form, step by step."""

from __future__ import annotations

from dataclasses import asdict
from itertools import product

import numpy as np
import pytest

from pmgt_mpi.gossip import MIXINGS
from tests.reference import REFERENCES
from tests.support.engines import engine_of
from tests.support.methods import METHODS, TRAITS, fits
from tests.support.small_world import Case, D, kinds_for

EPOCHS, ITERATIONS = 30, 100
TOLERANCE = 1e-11

PAPERS_OWN = ("pmgt-katyushax", "pmgt-svrg")


def cases(name):
    """Problem, equal shards or not, strength of l1, mixing."""
    psi = [0.0, 0.05] if TRAITS[name].proximal else [0.0]
    shards_and_psi = list(product([True, False], psi))
    kinds = kinds_for(TRAITS[name])
    if "M" not in TRAITS[name].cost.rounds:
        served = [(kinds[0], *shards_and_psi[-1], "server")]
        each = [(kind, *case, "plain") for kind in kinds for case in shards_and_psi]
        return each + served
    some = shards_and_psi if name in PAPERS_OWN else [(False, psi[-1])]
    everywhere = [(kinds[0], *case, "chebyshev") for case in shards_and_psi]
    mixings = [(kinds[0], *case, mixing) for case in some for mixing in MIXINGS]
    each = [(kind, *case, "chebyshev") for kind in kinds for case in some]
    return list(dict.fromkeys(everywhere + mixings + each))


def steps_of(name):
    """Epochs where a step is one, else iterations."""
    cost = TRAITS[name].cost
    if "T" in cost.gradients or "S" in cost.rounds + cost.gradients:
        return EPOCHS
    return ITERATIONS


def compare(ours, reference, *, alone: bool) -> None:
    """Each variable, after each step, to 1e-11 of its largest norm in the run.

    A dual variable of one agent is zero.
    """
    assert len(ours) == len(reference)
    assert set(ours[-1]) == set(reference[-1]), "the matrix form has other variables"
    for name in ours[-1]:
        pairs = [
            (mine[name], theirs[name])
            for mine, theirs in zip(ours, reference, strict=True)
            if name in theirs
        ]
        scale = max(np.linalg.norm(theirs) for _, theirs in pairs)
        assert 0 < scale < 1e6 or (alone and scale == 0)
        for step, (mine, theirs) in enumerate(pairs):
            error = np.linalg.norm(mine - theirs)
            assert error <= TOLERANCE * scale, f"{name} after step {step}: {error:.1e}"


def with_engines(name):
    """All cases in Python, and one of each problem compiled."""
    mixing = "chebyshev" if "M" in TRAITS[name].cost.rounds else "plain"
    l1 = 0.05 if TRAITS[name].proximal else 0.0
    return [(*case, "python") for case in cases(name)] + [
        (kind, False, l1, mixing, "compiled") for kind in kinds_for(TRAITS[name])
    ]


def all_cases(name):
    """Those of a method; or a skip, where it has no matrix form to be held against."""
    if name in REFERENCES:
        return [(name, *case) for case in with_engines(name)]
    lack = pytest.mark.skip(reason=f"{name} has no matrix form in tests/reference")
    return [pytest.param(name, "pca", False, 0.0, "plain", "python", marks=lack)]


@pytest.mark.parametrize(
    ("name", "kind", "equal", "l1", "mixing", "engine"),
    [case for name in METHODS for case in all_cases(name)],
)
def test_every_variable(comm, together, name, kind, equal, l1, mixing, engine):
    if not fits(name, comm.size):
        return
    easy = equal or l1 < TRAITS[name].proximal * 0.05
    if easy and comm.size in (2, 4):
        return  # for time: one agent and five see every case
    chosen = engine_of(comm, engine)
    case = Case(comm, kind, equal=equal, l1=l1, mixing=mixing, engine=chosen)
    ours = case.states(METHODS[name], steps_of(name))
    chance = case.chance()
    with together:
        if comm.rank == 0:  # one rank runs the matrix form of all of them
            reference = REFERENCES[name](
                case.world,
                np.full(D, 0.3),
                steps_of(name),
                chance,
                **asdict(METHODS[name]),
            )
            compare(ours, list(reference), alone=comm.size == 1)
            assert chance.is_used_up()
    case.close()
