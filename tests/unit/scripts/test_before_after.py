"""What became slower from one commit to another, as scripts/bench tells it."""

from __future__ import annotations

import json
import sys

import pytest

from tests.launcher import ROOT


@pytest.fixture
def before_after(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "scripts" / "bench"))
    yield __import__("before_after")
    sys.modules.pop("before_after")


def test_every_ratio_of_the_figures_is_found(before_after):
    book = json.loads((ROOT / "docs" / "performance.json").read_text())
    names = list(before_after.NAMES)
    found = before_after.ratios_of(book, names)
    assert {case.partition(":")[0] for case in found} == set(names)
    with_messages = [
        r for name in names for r in book[name]["results"] if r.get("M", 1)
    ]
    contenders = [name for r in with_messages for name in r["ratio"]]
    judged = ("python", *before_after.JUDGED)
    assert len(found) == sum(map(contenders.count, judged))
    assert found["epochs: ranks = 8, b = 173: compiled"] > 1


def test_what_is_more_than_5_percent_worse_is_named(before_after):
    before = [{"a: compiled": 1.0, "b: python": 1.0, "gone: compiled": 1.0}] * 3
    after = [{"a: compiled": x, "b: python": 2.0} for x in (1.04, 1.06, 9.0)]
    lines, worse = before_after.compare(before, after)
    assert lines[2:] == [
        "| a: compiled | 1.00 | 1.06 | 1.06 |",
        "| b: python | 1.00 | 2.00 | 2.00 |",
    ]
    assert worse == ["a: compiled: 1.06 times as much as before"]
    assert before_after.compare(before, before)[1] == []
