"""Ranges about a method's own choice, and the points that are tried in them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

import numpy as np
import pytest

from pmgt_mpi.algorithms import ALGORITHMS
from pmgt_mpi.config.sections import AlgorithmSection
from pmgt_mpi.errors import UserError
from pmgt_mpi.options import AUTO, AutoBatchSize, Momentum, Positive, Tunable
from pmgt_mpi.registry import import_object
from pmgt_mpi.tune.space import (
    choose,
    lattice,
    own_choice,
    own_place,
    quasi_random,
    read_ranges,
    tunables,
)


@dataclass(frozen=True, kw_only=True)
class Mine:
    """A method of the user's own, whose step is 0.01 a row of the batch."""

    traits: ClassVar[Any] = None
    batch_size: AutoBatchSize = AUTO
    step_size: Annotated[Positive, Tunable(4)] = AUTO
    momentum: Momentum = 0.9
    smoothing: Positive = 1.0


SECTION = AlgorithmSection(name="mine:Mine", method=Mine(), label="mine")


def resolve(section):
    method = section.method
    b = 10 if method.batch_size == "auto" else method.batch_size
    step = 0.01 * b if method.step_size == "auto" else method.step_size
    return replace(method, batch_size=b, step_size=step)


def chosen(place, asked=(), rows=1000):
    section, choices = choose(SECTION, np.array(place), resolve, rows, asked)
    return section.method, choices


def test_a_method_of_ones_own_declares_what_may_be_chosen():
    assert list(tunables(Mine())) == ["batch_size", "step_size", "momentum"]


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_method_has_a_step_to_tune(name):
    assert "step_size" in tunables(import_object(ALGORITHMS[name])())


def test_the_centre_is_the_methods_own_choice():
    method, choices = chosen([0.5, 0.5, 0.5])
    assert method == Mine(
        batch_size=10, step_size=pytest.approx(0.1), momentum=method.momentum
    )
    assert chosen([0.5, 0.5, 0.5], rows=11)[0].batch_size == 10
    assert choices[1].low == pytest.approx(0.025)
    assert choices[1].high == pytest.approx(0.4)


def test_a_range_lies_about_what_is_chosen_for_the_parameters_before_it():
    method, choices = chosen([1.0, 0.0, 0.5])
    assert method.batch_size == 80
    assert method.step_size == pytest.approx(0.01 * 80 / 4)
    assert (choices[1].low, choices[1].high) == pytest.approx((0.2, 3.2))


def test_no_value_is_beyond_what_is_possible():
    method, choices = chosen([1.0, 0.5, 1.0], rows=12)
    assert method.batch_size == 12
    assert method.momentum == 1.0
    assert isinstance(method.batch_size, int)
    assert not choices[0].open_high
    assert chosen([0.0, 0.5, 0.5], rows=12)[0].batch_size == 1


def test_an_optimum_at_the_edge_is_known_where_there_is_something_beyond():
    _, choices = chosen([1.0, 1.0, 1.0], rows=12)
    assert [choice.edge for choice in choices] == [None, "upper", None]
    _, choices = chosen([0.0, 0.05, 0.5])
    assert [choice.edge for choice in choices] == [None, "lower", None]
    assert [one.edge for one in own_choice(SECTION, resolve(SECTION))] == [None] * 3


def test_a_range_that_is_given_takes_the_place_of_the_methods_own():
    asked = read_ranges(["step_size=0.5,2", "mine.batch_size=3,300"], [SECTION])
    method, choices = chosen([0.5, 0.5, 0.5], asked)
    assert (method.batch_size, method.step_size) == (30, pytest.approx(1.0))
    assert choices[0][2:4] == pytest.approx((3, 300))


def test_the_configs_own_values_have_a_place_among_the_others():
    own = own_choice(SECTION, resolve(SECTION))
    assert own_place(SECTION, own, []).tolist() == [0.5, 0.5, 0.5]
    asked = read_ranges(["step_size=0.01,10", "mine.batch_size=20,300"], [SECTION])
    place = own_place(SECTION, own, asked)
    assert place == pytest.approx([0.0, 1 / 3, 0.5])
    assert chosen(place, asked)[0].step_size == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("step_size", "expected .LABEL..PARAMETER=LOW,HIGH"),
        ("step_size=1", "expected .LABEL..PARAMETER=LOW,HIGH"),
        ("step_size=a,b", "expected .LABEL..PARAMETER=LOW,HIGH"),
        ("step_size=2,1", "is empty: expected 0 < LOW < HIGH"),
        ("step_size=0,1", "is empty"),
        ("step_size=1,nan", "is empty"),
        ("smoothing=1,2", "valid: mine.batch_size, mine.step_size, mine.momentum"),
        ("nids.step_size=1,2", "nothing here has such a parameter"),
        ("size=1,2", "nothing here has such a parameter"),
    ],
)
def test_a_range_that_is_none_is_refused_in_a_sentence(text, sentence):
    with pytest.raises(UserError, match=sentence):
        read_ranges([text], [SECTION])


def test_the_points_of_sobol_fill_every_half_of_every_side_alike():
    points = np.array(list(quasi_random(62, 3)))
    assert points.shape == (62, 3)
    assert len(np.unique(points, axis=0)) == 62
    assert (points > 0).all()
    assert (points < 1).all()
    assert np.abs((points > 0.5).sum(axis=0) - 31).max() <= 1
    assert (points == np.array(list(quasi_random(62, 3)))).all()


@pytest.mark.parametrize(
    ("count", "dimensions", "sides"),
    [(64, 1, [64]), (64, 3, [4, 4, 4]), (64, 4, [2, 2, 4, 4]), (12, 2, [3, 4]),
     (7, 2, [1, 7])],
)  # fmt: skip
def test_a_lattice_has_as_many_points_as_asked_for(count, dimensions, sides):
    points = list(lattice(count, dimensions))
    assert len(points) == count
    found = sorted(len(Counter(column)) for column in zip(*points, strict=True))
    assert found == sides
    assert np.mean(points, axis=0) == pytest.approx([0.5] * dimensions)
