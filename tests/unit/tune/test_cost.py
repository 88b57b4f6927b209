"""The formula of the cost: sums of counts, and nothing that runs code."""

from __future__ import annotations

import pickle

import pytest

from pmgt_mpi.errors import UserError
from pmgt_mpi.tune.cost import Beyond, Formula

RECORD = {
    "gradients": 50.0, "gradients_paper": 30.0, "rounds": 7, "messages": 28,
    "bytes": 896, "seconds": 0.25, "step": 3, "objective": None,
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("gradients", 50.0),
        (" gradients + 100*rounds ", 750.0),
        ("seconds", 0.25),
        ("bytes/1e3 + 2*(messages + rounds)", 70.896),
        ("gradients_paper*0", 0.0),
    ],
)
def test_it_is_the_sum_of_the_counts(text, value):
    assert Formula(text)(RECORD) == pytest.approx(value)


def test_it_travels():
    beyond = pickle.loads(pickle.dumps(Beyond(Formula("gradients + rounds"), 57.0)))
    assert not beyond(RECORD)
    assert beyond({**RECORD, "rounds": 8})


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("gradients + rouns", r"unknown name 'rouns'; did you mean 'rounds'\? valid: "),
        ("__import__('os')", "unknown name '__import__'"),
        ("gradients.real", "more than sums of counts"),
        ("gradients - rounds", "more than sums of counts"),
        ("gradients ** 2", "more than sums of counts"),
        ("-1*gradients", "more than sums of counts"),
        ("gradients / rounds", "more than sums of counts"),
        ("gradients / 0", "more than sums of counts"),
        ("gradients * True", "more than sums of counts"),
        ("1e400 * gradients", "more than sums of counts"),
        ("gradients if rounds else bytes", "more than sums of counts"),
        ("gradients +", "is no formula"),
        ("", "is no formula"),
        ("(" * 300 + "gradients" + ")" * 300, "is no formula"),
        ("3", "is the same for every run"),
    ],
)
def test_what_is_none_is_refused_in_a_sentence(text, sentence):
    with pytest.raises(UserError, match=sentence) as refused:
        Formula(text)
    assert "\n" not in str(refused.value)
    assert "gradients" in str(refused.value)
