"""The page of measured figures: every target is there, and what misses it is told."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

from tests.launcher import ROOT

MACHINE = {"processor": "P", "cores": 2, "load": 0, "python": "3", "date": "now"}


@pytest.fixture
def bench(monkeypatch):
    """The modules of scripts/bench, as they import each other."""
    monkeypatch.syspath_prepend(str(ROOT / "scripts" / "bench"))
    names = ("ratios", "targets", "performance_page")
    yield {name: __import__(name) for name in names}
    for name in names:
        sys.modules.pop(name, None)


def test_ratios_are_those_of_pairs(bench):
    compare = bench["ratios"].compare
    seconds = {"C x": [1.0, 2.0, 4.0], "C y": [3.0, 3.0, 3.0], "python": [2, 8, 8]}
    base = bench["ratios"].fastest(seconds, "C ")
    assert base == "C x"
    told = compare(seconds, base, unit=100)
    assert told["ratio"]["python"]["median"] == 2.0
    assert told["ratio"]["C x"] == {"median": 1.0, "low": 1.0, "high": 1.0}
    assert told["microseconds"]["python"]["median"] == pytest.approx(80_000)
    assert bench["ratios"].fastest({"python": [1.0]}, "C ") is None
    json.dumps(told)


def round_result(python, compiled):
    def one(value):
        return {"median": value, "low": value, "high": value}

    return {
        "ranks": 2, "d": 50, "rounds_of_a_mix": 20, "base": "C persistent",
        "microseconds": {"C persistent": one(1.0), "C isend": one(1.25)},
        "ratio": {"python": one(python), "compiled": one(compiled)},
    }  # fmt: skip


def test_a_missed_target_is_bold_and_named(bench):
    results = [round_result(3.31, 1.49)]
    book = {"rounds": {"machine": MACHINE, "results": results}}
    text, missed = bench["performance_page"].page(book)
    assert missed == ["round, m = 2, d = 50, 20 to a mix, python: 3.31, target 3.3"]
    python, compiled = "**3.31 [3.31, 3.31]** (≤ 3.3)", "1.49 [1.49, 1.49] (≤ 1.5)"
    assert f"| 2 | 50 | 20 | 1.00 | {python} | {compiled} |" in text
    assert "Isend in C takes 1.25 (m = 2, d = 50) times as long" in text
    assert text.count("*Not measured.*") == 6


def test_without_a_compiler_there_is_nothing_to_compare_with(bench):
    result = round_result(1.0, 1.0) | {"base": None, "ratio": {}}
    result["microseconds"] = {"python": {"median": np.pi}}
    book = {"rounds": {"machine": MACHINE, "results": [result]}}
    text, missed = bench["performance_page"].page(book)
    assert not missed
    assert "| 2 | 50 | 20 | – | – | – |\n" in text
    assert "nothing to compare was compiled" in text


def test_what_an_epoch_takes_beyond_c_is_told_with_messages_and_without(bench):
    def epoch(M, c, compiled):
        ratio = {"median": compiled / c, "low": 1.0, "high": 2.0}
        return {
            "ranks": 8, "b": 173, "M": M, "base": "C gemv",
            "microseconds": {"C gemv": {"median": c}, "compiled": {"median": compiled}},
            "ratio": {"compiled": ratio}, "switches": {"C gemv": 9.0, "compiled": 7.25},
        }  # fmt: skip

    results = [epoch(4, 200.0, 260.0), epoch(0, 50.0, 75.0)]
    book = {"epochs": {"machine": MACHINE, "results": results}}
    text, missed = bench["performance_page"].page(book)
    assert missed == ["epoch, m = 8, b = 173, compiled: 1.30, target 1.25"]
    bold = "**1.30 [1.00, 2.00]** (≤ 1.25)"
    assert f"| 8 | 173 | 4 | 200.00 | – | {bold} | 9.0 | – | 7.2 |" in text
    assert "| 8 | 173 | 0 | 50.00 | – | 1.50 [1.00, 2.00] | 9.0 | – | 7.2 |" in text
    told = "+60.0 µs, and +25.0 without messages, at m = 8, b = 173. What"
    assert told in text.replace("\n", " ")


def test_start_up_is_told_in_its_parts(bench):
    seconds = {"bare": 0.5, "imports": 0.75, "imports of agent 0": 1.0}
    seconds["first step"] = 1.25
    told = {name: {"median": x, "low": x, "high": x} for name, x in seconds.items()}
    result = {"ranks": 8, "seconds": told, "ratio": {"first step": told["first step"]}}
    book = {"startup": {"machine": MACHINE, "results": [result]}}
    text, _ = bench["performance_page"].page(book)
    row = "| 8 | 0.50 | 0.75 | 1.00 | 1.25 | 1.25 [1.25, 1.25] (≤ 1.5) | +0.75 |"
    assert row in text


def test_overlap_has_a_row_for_each_gradient_and_a_column_for_each_network(bench):
    one = {
        "link": "shared memory", "ranks": 2, "engine": "python", "method": "Extra",
        "gradient": "slow", "d": 50, "ratio": {"median": 1, "low": 0.99, "high": 1.1},
    }  # fmt: skip
    ratio = {"median": 1.5, "low": 1.4, "high": 1.75}
    slow = {"link": "slow link", "ranks": 3, "engine": "compiled", "ratio": ratio}
    book = {"overlap": {"machine": MACHINE, "results": [one, one | slow]}}
    text, missed = bench["performance_page"].page(book)
    assert not missed
    assert "| slow link, m = 3, compiled |" in text
    row = "| slow | Extra | 50 | 1.00 [0.99, 1.10] | – | – | 1.50 [1.40, 1.75] |"
    assert row in text


def test_the_document_is_written_from_its_figures(bench):
    """`bash scripts/bench.sh --page-only` would change nothing."""
    docs = ROOT / "docs"
    book = json.loads((docs / "performance.json").read_text())
    text, _ = bench["performance_page"].page(book)
    assert text == (docs / "performance.md").read_text()
