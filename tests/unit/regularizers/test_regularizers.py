from __future__ import annotations

import dataclasses
import inspect
import math
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest

from pmgt_mpi.errors import UserError
from pmgt_mpi.regularizers import REGULARIZERS
from pmgt_mpi.regularizers.box import Box
from pmgt_mpi.regularizers.none import NoRegularizer
from pmgt_mpi.regularizers.shrinkage import L1, L2, ElasticNet

EXAMPLES = [
    NoRegularizer(),
    L1(strength=0.7),
    L1(strength=0.0),
    L2(strength=0.7),
    ElasticNet(l1=0.3, l2=1.1),
    ElasticNet(l1=0.0, l2=1.1),
    ElasticNet(l1=0.3, l2=0.0),
    Box(lower=-0.5, upper=1.0),
    Box(lower=0.0),
    Box(upper=0.25),
]
every_example = pytest.mark.parametrize("psi", EXAMPLES, ids=repr)
ETAS = (1e-3, 0.4, 7.0)


def vectors(count=6, d=40):
    return np.random.default_rng(0).standard_normal((count, d)) * 1.5


def exact_value(psi, x):
    """psi at x as a fraction; None where it is infinite."""
    numbers = [Fraction(float(v)) for v in x]
    if isinstance(psi, Box):
        low, high = psi.lower, psi.upper
        return Fraction(0) if all(low <= v <= high for v in numbers) else None
    l1 = Fraction(getattr(psi, "l1", getattr(psi, "strength", 0)))
    l2 = Fraction(getattr(psi, "l2", 0))
    if isinstance(psi, L2):
        l1, l2 = Fraction(0), l1
    return sum((l1 * abs(v) + l2 * v * v / 2 for v in numbers), Fraction(0))


def test_every_registered_one_is_tried_here():
    assert {type(psi) for psi in EXAMPLES} == {
        REGULARIZERS.load(k) for k in REGULARIZERS
    }


@every_example
def test_value(psi):
    for x in vectors():
        expected = exact_value(psi, x)
        value = math.inf if expected is None else float(expected)
        assert psi.value(x) == pytest.approx(value, rel=1e-14)


@every_example
@pytest.mark.parametrize("eta", ETAS)
def test_prox_is_the_minimiser_over_a_fine_grid(psi, eta):
    def cost(x, z):
        value = exact_value(psi, [x])
        return math.inf if value is None else float(value) + (x - z) ** 2 / (2 * eta)

    grid = np.linspace(-3, 3, 601)
    for z in (-2.0, -0.2, 0.0, 0.1, 0.9, 1.7):
        found = float(psi.prox(np.array([z]), eta)[0])
        costs = np.array([cost(x, z) for x in grid])
        assert cost(found, z) <= costs.min() + 1e-15 / eta
        assert abs(grid[costs.argmin()] - found) <= 0.0051


@every_example
@pytest.mark.parametrize("eta", ETAS)
def test_prox_three_point_inequality(psi, eta):
    """psi(x) ≥ psi(p) + ⟨z − p, x − p⟩/eta + (σ/2)‖x − p‖² for every x."""
    for z in vectors():
        p = psi.prox(z, eta)
        for x in vectors():
            inside = psi.prox(x, eta)
            linear = (z - p) @ (inside - p) / eta
            bend = 0.5 * psi.sigma * (inside - p) @ (inside - p)
            assert psi.value(inside) >= psi.value(p) + linear + bend - 1e-10 / eta


@every_example
@pytest.mark.parametrize("eta", ETAS)
def test_prox_is_firmly_nonexpansive(psi, eta):
    for a in vectors():
        for b in vectors():
            step = psi.prox(a, eta) - psi.prox(b, eta)
            assert step @ step * (1 + eta * psi.sigma) <= step @ (a - b) + 1e-12


@every_example
@pytest.mark.parametrize("eta", ETAS)
def test_prox_slope_is_its_derivative(psi, eta):
    z, h = vectors()[0], 1e-6
    difference = (psi.prox(z + h, eta) - psi.prox(z - h, eta)) / (2 * h)
    np.testing.assert_allclose(psi.prox_slope(z, eta), difference, atol=1e-8)
    assert set(psi.prox_slope(z, eta)) <= {0.0, 1.0, 1 / (1 + eta * psi.sigma)}


def test_prox_slope_at_a_kink_is_flat():
    assert L1(strength=1.0).prox_slope(np.array([0.5, -0.5]), 0.5).tolist() == [0, 0]
    assert Box(lower=0.0, upper=1.0).prox_slope(np.array([0.0, 1.0]), 1.0).sum() == 0


def test_zeros_and_bounds_are_met_exactly():
    z = np.array([-3.0, -0.3, 0.0, 0.1, 0.3, 3.0])
    assert L1(strength=1.0).prox(z, 0.3).tolist() == [-2.7, 0, 0, 0, 0, 2.7]
    assert Box(lower=-0.1, upper=0.2).prox(z, 9.0).tolist() == [
        *[-0.1, -0.1, 0.0],
        *[0.1, 0.2, 0.2],
    ]


@every_example
def test_prox_leaves_its_argument_and_its_type(psi):
    for dtype in (np.float64, np.float32):
        z = vectors()[0].astype(dtype)
        kept = z.copy()
        out = psi.prox(z, np.float64(0.5))
        assert out.dtype == dtype
        np.testing.assert_array_equal(z, kept)
        table = z.reshape(8, 5)
        np.testing.assert_array_equal(psi.prox(table, 0.5).ravel(), psi.prox(z, 0.5))


def test_no_regularizer_gives_z_itself():
    z = vectors()[0]
    assert NoRegularizer().prox(z, 1.0) is z


@every_example
def test_prox_makes_at_most_one_array(psi):
    z = np.random.default_rng(0).standard_normal(100_000)
    psi.prox(z, 0.1)
    tracemalloc.start()
    try:
        psi.prox(z, 0.1)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1.1 * z.nbytes


@every_example
def test_excess_keeps_its_digits_close_to_the_minimiser(psi):
    """Against fractions, at distance 1e-9 of a point where −slope is a subgradient."""
    z = vectors()[1]
    x_star = psi.prox(z, 1.0)
    slope = x_star - z
    for size in (1e-9, 1e-3, 1.0):
        x = x_star + size * vectors()[2]
        if isinstance(psi, Box):
            x = psi.prox(x, 1.0)
        products = [
            Fraction(float(s)) * (Fraction(float(a)) - Fraction(float(b)))
            for s, a, b in zip(slope, x, x_star, strict=True)
        ]
        expected = exact_value(psi, x) - exact_value(psi, x_star) + sum(products)
        # Rounding of slope alone leaves 1e-16 |x − x*|.
        assert psi.excess(x, x_star, slope) == pytest.approx(
            float(expected), rel=1e-12, abs=1e-15 * size
        )


@every_example
def test_excess_is_never_negative_at_a_minimiser(psi):
    z = vectors()[1]
    x_star = psi.prox(z, 1.0)
    for x in vectors():
        assert psi.excess(psi.prox(x, 0.1), x_star, x_star - z) >= -1e-13


def test_box_has_a_tolerance():
    box = Box(lower=0.0, upper=100.0)
    assert box.value(np.array([-0.9e-6, 100.00009])) == 0.0
    assert box.value(np.array([-1.1e-6, 50.0])) == math.inf
    assert box.value(np.array([0.0, 100.00011])) == math.inf
    assert (
        Box(lower=0.0, upper=1.0, tolerance=0.0).value(np.array([-1e-300])) == math.inf
    )
    assert Box(lower=0.0).value(np.array([1e300])) == 0.0


def test_excess_outside_of_a_box():
    box, x_star = Box(lower=0.0, upper=1.0), np.array([0.0, 0.5])
    slope = np.array([2.0, 0.0])
    assert box.excess(np.array([-1e-7, 0.5]), x_star, slope) == 0.0
    assert box.excess(np.array([-1e-3, 0.5]), x_star, slope) == math.inf


def test_a_box_that_is_empty_is_refused():
    with pytest.raises(UserError) as told:
        Box(lower=2.0, upper=1.0)
    assert str(told.value) == (
        "[regularizer] lower = 2, upper = 1: expected lower ≤ upper; exchange them"
    )
    with pytest.raises(UserError) as told:
        Box(lower=math.nan)
    assert str(told.value) == (
        "[regularizer] lower = nan, upper = inf: expected numbers, or inf for no bound"
    )


@pytest.mark.parametrize("bounds", [
    {"lower": 1e308}, {"upper": -1e308}, {"lower": -1e308, "upper": 1e308},
    {"lower": 1e308, "upper": 1e308}, {"lower": math.inf}, {"upper": -math.inf},
    {"lower": math.inf, "upper": math.inf},
])  # fmt: skip
def test_a_bound_out_of_reach_is_refused(bounds):
    name, value = next(iter(bounds.items()))
    with pytest.raises(UserError) as told:
        Box(**bounds)
    assert str(told.value) == (
        f"[regularizer] {name} = {value:g}: expected a number of at most 1e+15 in size;"
        " leave it out for no bound"
    )


def test_a_box_of_one_point_is_that_point():
    box = Box(lower=1.0, upper=1.0)
    assert box.prox(np.array([-3.0, 1.0, 7.0]), 0.1).tolist() == [1.0, 1.0, 1.0]
    assert box.value(np.ones(3)) == 0.0


def test_a_wide_tolerance_is_no_overflow_in_single_precision():
    box = Box(lower=1.0, upper=1e15, tolerance=1e15)
    assert box.value(np.zeros(3, np.float32)) == 0.0


def test_strong_convexity():
    assert [psi.sigma for psi in EXAMPLES] == [0, 0, 0, 0.7, 1.1, 1.1, 0, 0, 0, 0]


@pytest.mark.parametrize("name", list(REGULARIZERS))
def test_options_are_keyword_only_fields_of_a_frozen_dataclass(name):
    kind = REGULARIZERS.load(name)
    parameters = inspect.signature(kind).parameters.values()
    assert all(p.kind is p.KEYWORD_ONLY for p in parameters)
    assert kind.__dataclass_params__.frozen
    assert [p.name for p in parameters] == [f.name for f in dataclasses.fields(kind)]
