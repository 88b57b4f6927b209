from __future__ import annotations

from decimal import Decimal, localcontext
from functools import partial

import numpy as np
import pytest

from pmgt_mpi.data.shard import Shard
from pmgt_mpi.errors import UserError
from pmgt_mpi.problems.logistic import Logistic, expm2, sigmoid
from tests.unit.problems.examples import alone

approx = partial(pytest.approx, abs=0.0)


def model(labels, **options):
    labels = np.array(labels, float)
    A = np.ones((len(labels), 1))
    return Logistic(Shard(A, labels, len(labels), 1), alone(), **options)


def exact(function):
    with localcontext() as context:
        context.prec = 80
        return float(function())


EXTREME = np.array([-1e308, -1e4, -800.0, -40.0, -1e-12, 0.0, 3.0, 40.0, 800.0, 1e308])


def test_loss_and_slope_are_finite_and_right_for_any_z():
    f = model([0, 1])
    for y in (-1.0, 1.0):
        loss, slope = f.loss(EXTREME, y), f.slope(EXTREME, y)
        assert np.isfinite(loss).all()
        for z, value, derivative in zip(EXTREME, loss, slope, strict=True):
            if abs(z) > 1000:
                expected = max(-y * z, 0.0), -y * (y * z < 0)
            else:
                e = (Decimal(-y) * Decimal(float(z))).exp()
                expected = exact(lambda e=e: (1 + e).ln()), -y * float(e / (1 + e))
            assert value == approx(expected[0], rel=1e-14)
            assert derivative == pytest.approx(expected[1], abs=2e-16)


def test_sigmoid_keeps_its_digits_at_both_ends():
    for t in (-700.0, -30.0, 0.0, 1e-3, 30.0):
        expected = exact(lambda t=t: 1 / (1 + (-Decimal(t)).exp()))
        assert sigmoid(np.array([t]))[0] == approx(expected, rel=1e-15)
    assert sigmoid(np.array([-1e308, 1e308])).tolist() == [0.0, 1.0]


@pytest.mark.parametrize("u", [-90.0, -1.0, -0.999, -1e-9, 0.0, 1e-30, 0.3, 1.0, 50.0])
def test_second_remainder_of_exp(u):
    expected = exact(lambda: Decimal(u).exp() - 1 - Decimal(u))
    assert expm2(np.array([u]))[0] == approx(expected, rel=2e-15)


@pytest.mark.parametrize("delta", [1e-12, -1e-9, 1e-3, 0.9, -1.1, 30.0, -99.0, 600.0])
@pytest.mark.parametrize("z", [-20.0, -1.0, 0.0, 0.7, 25.0])
@pytest.mark.parametrize("y", [-1.0, 1.0])
def test_divergence_keeps_its_digits(delta, z, y):
    def phi(t):
        return (1 + (-Decimal(y) * t).exp()).ln()

    def expected():
        here, step = Decimal(z), Decimal(delta)
        e = (-Decimal(y) * here).exp()
        return phi(here + step) - phi(here) + Decimal(y) * e / (1 + e) * step

    found = model([0, 1]).divergence(np.array([delta]), np.array([z]), y)[0]
    assert found == approx(exact(expected), rel=1e-12 if abs(delta) > 1 else 1e-14)


def test_far_steps_do_not_overflow():
    far = model([0, 1]).divergence(np.array([1e6, -1e6]), np.zeros(2), 1.0)
    np.testing.assert_allclose(far, [5e5 - np.log(2), 5e5 - np.log(2)], rtol=1e-12)


@pytest.mark.parametrize("labels", [[0, 1, 1], [-1, 1, 1], [3, 7, 7], [1, 2, 2]])
def test_the_larger_of_two_labels_is_positive(labels):
    assert model(labels).y.tolist() == [-1.0, 1.0, 1.0]


def test_one_label_against_the_rest():
    assert model([1, 2, 3, 2], positive=2).y.tolist() == [-1.0, 1.0, -1.0, 1.0]
    many = np.arange(50.0)
    assert model(many, positive=40).y.tolist() == np.where(many == 40, 1, -1).tolist()


def test_other_numbers_of_labels_are_refused():
    with pytest.raises(UserError) as told:
        model([1, 2, 3])
    assert str(told.value) == (
        "problem 'logistic' needs two label values, and the data have 1, 2, 3; "
        "set [problem] positive to the label that is to stand against the rest"
    )
    with pytest.raises(UserError, match="and the data have 4; set"):
        model([4, 4])
    with pytest.raises(UserError, match=r"have 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, …; set"):
        model(np.arange(100))


def test_a_positive_label_that_is_not_there_is_refused():
    with pytest.raises(UserError) as told:
        model([1, 2, 3], positive=4)
    assert str(told.value) == (
        "[problem] positive = 4: expected one of at least two label values, "
        "and the data have 1, 2, 3"
    )
    with pytest.raises(UserError, match=r"and the data have 2$"):
        model([2, 2], positive=2)


def test_data_without_labels_are_refused():
    with pytest.raises(UserError) as told:
        Logistic(Shard(np.ones((3, 1)), None, 3, 1), alone())
    assert str(told.value) == (
        "problem 'logistic' needs a label for each row, and the data have none; "
        "set [data] label_column, or use a source with labels (libsvm)"
    )
