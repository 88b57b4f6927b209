"""The grids of a search: equal in size, and what lies inside them."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPTS = Path(__file__).parents[3] / "scripts"
KATYUSHAX, SVRG, NIDS = "pmgt-katyushax", "pmgt-svrg", "nids"
PG_EXTRA = "pg-extra"
CENTRES = {KATYUSHAX: (5, 2, 6, 2), SVRG: (7, 2, 6), NIDS: (3,), PG_EXTRA: (3,)}
METHODS = list(CENTRES)
CASES = [(2, KATYUSHAX), (2, SVRG), (2, NIDS), (300, KATYUSHAX), (300, SVRG)]


def module(name: str) -> ModuleType:
    """A module; the scripts' folders are on the path only while it is imported."""
    with pytest.MonkeyPatch.context() as patch:
        folders = [str(SCRIPTS / folder) for folder in ("search", "wins")]
        patch.setattr(sys, "path", [*sys.path, *folders])
        return importlib.import_module(name)


@pytest.fixture(scope="module")
def grids() -> ModuleType:
    return module("trial_grids")


@pytest.fixture(scope="module")
def wins() -> ModuleType:
    return module("wins_lab")


@pytest.mark.parametrize(("r", "method"), CASES)
def test_every_method_gets_36_trials_with_20_agents(grids, wins, r, method):
    points = list(grids.grid(method, wins.start(20, r, method), small=False))
    assert len(points) == len(set(points)) == 36


@pytest.mark.parametrize("m", [4, 16])
@pytest.mark.parametrize(("r", "method"), CASES)
def test_every_method_gets_12_trials_in_a_small_grid(grids, wins, m, r, method):
    points = list(grids.grid(method, wins.start(m, r, method), small=True))
    assert len(points) == len(set(points)) == 12


@pytest.mark.parametrize("small", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_centre_of_a_grid_comes_first_and_lies_inside(grids, method, small):
    centre = CENTRES[method]
    points = list(grids.grid(method, centre, small))
    assert points[0] == centre
    assert grids.inside(method, centre, points, small)


@pytest.mark.parametrize("method", METHODS)
def test_every_missing_neighbour_puts_the_optimum_outside(grids, method):
    centre = CENTRES[method]
    points = set(grids.grid(method, centre, small=False))
    for axis in range(len(centre)):
        for side in (-1, 1):
            beside = (*centre[:axis], centre[axis] + side, *centre[axis + 1 :])
            assert not grids.inside(method, centre, points - {beside}, small=False)


def test_edge_of_a_grid_is_outside(grids):
    points = set(grids.grid(SVRG, (0, 2, 6), small=False))
    assert not grids.inside(SVRG, (2, 2, 6), points, small=False)
    assert grids.inside(SVRG, (1, 2, 6), points, small=False)


def test_small_grid_asks_for_neighbours_in_step_and_rounds_only(grids):
    points = {(0, 2, 6, 1), (-1, 2, 6, 1), (1, 2, 6, 1), (0, 2, 5, 1), (0, 2, 7, 1)}
    assert grids.inside(KATYUSHAX, (0, 2, 6, 1), points, small=True)
    assert not grids.inside(KATYUSHAX, (0, 2, 6, 1), points, small=False)
    for missing in points - {(0, 2, 6, 1)}:
        assert not grids.inside(KATYUSHAX, (0, 2, 6, 1), points - {missing}, small=True)


def test_whole_batch_and_one_round_are_natural_ends(grids):
    corner = (3, 0, 0)
    points = set(grids.grid(SVRG, corner, small=False))
    assert min(point[1] for point in points) == min(point[2] for point in points) == 0
    assert len(points) == 4 * 2 * 2
    assert grids.inside(SVRG, corner, points, small=False)
    assert not grids.inside(SVRG, corner, points - {(2, 0, 0)}, small=False)


@pytest.mark.parametrize("axis", [1, 2])
def test_half_batch_and_two_rounds_are_no_ends(grids, axis):
    centre = (3, 1, 1)
    points = set(grids.grid(SVRG, centre, small=False))
    beside = (*centre[:axis], 0, *centre[axis + 1 :])
    assert grids.inside(SVRG, centre, points, small=False)
    assert not grids.inside(SVRG, centre, points - {beside}, small=False)


@pytest.mark.parametrize("method", [NIDS, PG_EXTRA])
def test_step_of_full_gradients_has_no_natural_end(grids, method):
    points = set(grids.grid(method, (0,), small=False))
    assert not grids.inside(method, (-18,), points, small=False)
