"""The average of a step's cost is the mean of what steps cost."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from pmgt_mpi.algorithms.traits import step_cost
from tests.support.methods import METHODS, TRAITS

N = 10


@pytest.mark.parametrize("name", METHODS)
def test_every_method_tells_its_average(name):
    method = METHODS[name]
    cost = step_cost(method, N)
    own = asdict(method)
    b, q = own.get("batch_size"), own.get("period")
    p, M = own.get("probability"), own.get("mix_rounds")
    t0 = 4  # ⌈10/3⌉
    gradients = {
        "pmgt-katyushax": lambda: N + 2 * b * t0,
        "pmgt-svrg": lambda: N + 2 * b * t0,
        "pmgt-lsvrg": lambda: 2 * b + p * N,
        "dearest": lambda: p * N + (1 - p) * 2 * b,
        "gt-svrg": lambda: 2 * b + N / q,
        "gt-sarah": lambda: N / q + (1 - 1 / q) * 2 * b,
        "destress": lambda: N + 2 * b * (own["inner_steps"] - 1) * own["activation"],
    }
    if name in gradients:
        assert cost.gradients == pytest.approx(gradients[name]())
    if name == "pmgt-katyushax":
        assert cost.rounds == (2 * t0 + 3) * M
        assert step_cost(method, N, T=6).rounds == (2 * 7 + 3) * M
        assert step_cost(method, N, T=6).gradients == N + 2 * b * 7
    if name == "nids":
        assert (cost.gradients, cost.rounds) == (N, 1)
    assert cost.vectors == TRAITS[name].cost.vectors
