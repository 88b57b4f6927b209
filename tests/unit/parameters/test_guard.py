"""Which parameters a guard may change, how, and when it asks."""

from __future__ import annotations

from dataclasses import asdict, fields, replace
from math import inf, nan, sqrt

import numpy as np
import pytest

from pmgt_mpi.algorithms import ALGORITHMS
from pmgt_mpi.algorithms.nids import NIDS, State
from pmgt_mpi.algorithms.pmgt_katyushax import PMGTKatyushaX
from pmgt_mpi.config.sections import AlgorithmSection
from pmgt_mpi.errors import UserError
from pmgt_mpi.parameters.guard import (
    GROWTH,
    MOST_CHANGES,
    MOST_GROWTH,
    Guarded,
    copied,
    gentler,
    guarded,
    guarded_parameters,
)
from tests.support.methods import METHODS, TRAITS


def parameters(method, rounds="auto", guard="auto"):
    section = AlgorithmSection(name="it", method=method, guard=guard)
    return guarded_parameters(section, rounds)


def test_what_auto_chose_is_guarded_and_nothing_else():
    assert parameters(NIDS()) == ["step_size"]
    assert parameters(NIDS(step_size=0.1)) == []
    assert parameters(NIDS(step_size="theory")) == []
    everything = ["mix_rounds", "step_size", "momentum"]
    assert parameters(PMGTKatyushaX()) == everything
    assert parameters(PMGTKatyushaX(), rounds=7) == everything[1:]
    assert parameters(PMGTKatyushaX(mix_rounds="auto"), rounds=7) == everything
    assert parameters(PMGTKatyushaX(mix_rounds=3, momentum=0.1)) == ["step_size"]


def test_who_names_parameters_gets_these():
    assert parameters(NIDS(step_size=0.1), guard=["step_size"]) == ["step_size"]
    assert parameters(NIDS(), guard=[]) == []
    with pytest.raises(UserError) as error:
        parameters(PMGTKatyushaX(), guard=["batch_size"])
    assert str(error.value) == (
        "it: guard names batch_size: expected some of mix_rounds, step_size, momentum"
    )
    with pytest.raises(UserError, match=r"expected some \[\]: this method has nothing"):
        parameters(object(), guard=["step_size"])


@pytest.mark.parametrize("name", ALGORITHMS)
def test_what_a_method_lets_change_becomes_gentler(name):
    method, may = METHODS[name], TRAITS[name].guarded
    assert set(may) <= {field.name for field in fields(method)}
    before, after = asdict(method), asdict(gentler(method, may))
    for key, value in before.items():
        if key not in may:
            assert after[key] == value
        elif isinstance(value, int):
            assert value < after[key] <= 1.25 * value + 1
        else:
            divisor = sqrt(1.3) if key == "momentum" else 1.3
            assert after[key] == pytest.approx(value / divisor)


def test_without_parameters_to_change_there_is_no_guard():
    method = NIDS(step_size=0.1)
    assert guarded(method, [], 3, 100) is method
    assert isinstance(guarded(method, ["step_size"], 3, 100), Guarded)


def test_a_copy_keeps_what_is_one_array_one():
    x = np.arange(3.0)
    state = State(k=1, x=x, z=x, x_old=x + 1, grad_old=x)
    other = copied(state)
    assert other.x is other.z is other.grad_old
    x += 1
    np.testing.assert_array_equal(other.x, [0, 1, 2])


class Alone:
    """An agent without neighbours, that says what it is told to."""

    def __init__(self, values):
        self.values = iter(values)
        self.asked = 0

    def largest(self, value, rounds):  # noqa: ARG002
        self.asked += 1
        return next(self.values)

    def prox(self, z, eta):  # noqa: ARG002
        return z


class Still(NIDS):
    """A method that only counts its steps."""

    def step(self, agent, s):  # noqa: ARG002
        return replace(s, k=s.k + 1)

    def watched(self, agent, before, after):  # noqa: ARG002
        return after.x[0]


STILL = Still(step_size=1.0)


def run(values, steps, diameter=4):
    """The guard's states after the steps, on a method that takes a round a step."""
    guard = Guarded(STILL, (), diameter, 10)
    agent, states = Alone(values), []
    s = guard.init(agent, np.ones(2))
    for _ in range(steps):
        s = guard.step(agent, s)
        states.append((s.step, s.changes, s.method.k, s.least))
    return guard, agent, states


def test_it_asks_often_at_first_and_then_seldom():
    """Every 80 steps the diameter, 4, is a twentieth of the method's rounds."""
    guard, agent, _ = run([1.0] * 20, steps=1 + 20 + 40 + 80 * 5)
    assert (guard.often, guard.seldom, agent.asked) == (20, 80, 8)


def test_it_goes_back_to_the_best_state_when_the_number_has_grown():
    values = [8.0, 2.0, 2 * GROWTH, 2.1 * GROWTH, 1.0, 1.0]
    _, _, states = run(values, steps=1 + 20 + 40 + 80 + 20)
    at = {step: (changes, k, least) for step, changes, k, least in states}
    assert at[1] == (0, 1, 8.0)
    assert at[21] == (0, 21, 2.0)
    assert at[61] == (0, 61, 2.0)  # not more than GROWTH times
    assert at[141] == (1, 20, 2.0)
    assert at[161] == (1, 40, 1.0)


def test_what_follows_a_change_may_rise_more():
    values = [1.0, 2 * GROWTH, 1.9 * GROWTH, 2.1 * GROWTH]
    _, _, states = run(values, steps=1 + 20 + 20 + 40)
    assert [changes for step, changes, _, _ in states if step in (21, 41, 81)] == [
        1, 1, 2,
    ]  # fmt: skip
    values = [1.0, *[MOST_GROWTH + 1] * 20]
    _, _, states = run(values, steps=1 + 20 * 20)
    assert states[-1][1] == 20


def test_what_is_no_number_is_growth_until_it_gives_up():
    guard, _, states = run([inf] * 200, steps=1 + 20 * (MOST_CHANGES + 1))
    assert [changes for step, changes, _, _ in states if step % 20 == 1] == [
        *range(1, MOST_CHANGES + 1), MOST_CHANGES, MOST_CHANGES,
    ]  # fmt: skip
    s = guard.init(None, np.ones(2))
    assert guard.recovers(s)
    s.changes = MOST_CHANGES
    assert not guard.recovers(s)
    broken = STILL.init(Alone([]), np.array([nan, 1.0]))
    assert guard.value(STILL, None, broken, broken) == inf


def test_rounding_is_no_growth():
    """Far below the size of x the number watched is that of rounding, and steady."""
    guard = Guarded(STILL, (), 1, 10)
    tiny = STILL.init(Alone([]), np.array([1e-30, 1.0]))
    assert guard.value(STILL, None, tiny, tiny) == pytest.approx(1.8e-12, rel=0.1)


def test_the_user_is_told_what_was_changed():
    guard = Guarded(NIDS(step_size=1.3), ("step_size",), 1, 10)
    s = guard.init(None, np.ones(2))
    assert guard.told(s) == ""
    s.changes = 1
    assert guard.told(s) == "the run grew, and went back once: step_size from 1.3 to 1"
