"""The proximal equation of one row is solved to rounding, wherever it lies."""

from __future__ import annotations

from math import exp, tanh

import numpy as np
import pytest

from pmgt_mpi.problems.scalar_prox import proximal_slope


def logistic(y):
    """φ' and φ'' of log(1 + exp(−yz)), with a list of where φ' was asked for."""
    asked: list[float] = []

    def slope(z):
        asked.append(z)
        return (tanh(z / 2) - y) / 2

    def curvature(z):
        e = exp(-abs(z))
        return e / (1 + e) ** 2

    return slope, curvature, asked


@pytest.mark.parametrize("k", [1e-6, 1.0, 32.0, 1e3, 1e6])
@pytest.mark.parametrize("y", [-1.0, 1.0])
def test_the_equation_holds(k, y):
    slope, curvature, asked = logistic(y)
    for r in (-1e4, -30.0, -1.0, 0.0, 1e-3, 2.0, 300.0, 1e4):
        asked.clear()
        s = proximal_slope(slope, curvature, k, r)
        zeta = asked[-1]
        assert s == slope(zeta)
        rounding = 4e-15 * (abs(zeta) + k * abs(s) + abs(r)) + 2e-16 * k  # of φ' itself
        assert abs(zeta + k * s - r) <= rounding
        assert len(asked) < 110


def test_newtons_method_alone_does_not_find_it():
    """The reason for the interval: from r it goes away, for k = 1000 and r = 20."""
    slope, curvature, _ = logistic(-1.0)
    zeta, k, r = 20.0, 1000.0, 20.0
    for _ in range(50):
        zeta -= (zeta + k * slope(zeta) - r) / (1 + k * curvature(zeta))
        if abs(zeta) > 600:
            break
    assert abs(zeta + k * slope(zeta) - r) > 1
    s = proximal_slope(slope, curvature, k, r)
    assert slope(r - k * s) == pytest.approx(s, rel=1e-9)


@pytest.mark.parametrize("k", [1e-9, 1.0, 1e9])
def test_of_a_square_it_is_known(k):
    s = proximal_slope(lambda z: z - 3.0, lambda _z: 1.0, k, 7.0)
    assert s == pytest.approx(4.0 / (1 + k), rel=1e-12)


def test_a_flat_loss_pulls_nowhere():
    assert proximal_slope(lambda _z: 0.0, lambda _z: 0.0, 1.0, np.pi) == 0.0
