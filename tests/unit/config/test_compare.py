"""What may differ between a run and its continuation, and how the rest is named."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pmgt_mpi.config.compare import differences, with_numbers
from pmgt_mpi.config.read import check_config
from tests.unit.config.configs import config_of

TWO = [{"name": "nids"}, {"name": "pg-extra"}]
ASKED = config_of(algorithm=TWO)
NUMBERS = (0.5, 0.25)
RESOLVED = replace(
    ASKED,
    run=replace(ASKED.run, engine="compiled"),
    algorithm=tuple(
        replace(one, method=replace(one.method, step_size=step), evaluate_every=3)
        for one, step in zip(ASKED.algorithm, NUMBERS, strict=True)
    ),
)


def told(algorithm: Any = None, **changes: Any) -> list[str]:
    now = config_of(algorithm=algorithm or TWO, **changes)
    return differences(ASKED, RESOLVED, now)


@pytest.mark.parametrize(
    ("section", "key", "value"),
    [
        ("stop", "steps", 7),
        ("stop", "seconds", 9.0),
        ("checkpoint", "minutes", 1.0),
        ("run", "name", "other"),
        ("run", "timeout", 3.0),
        ("run", "engine", "python"),
        ("network", "placement", "none"),
    ],
)
def test_budget_cadence_and_places_may_change(section, key, value):
    algorithm = [TWO[0], {**TWO[1], "steps": 9999}]
    assert told(algorithm, **{section: {key: value}}) == []


@pytest.mark.parametrize("key", ["path", "labels"])
def test_files_may_have_moved(key):
    files = {"source": "npy", "path": "rows.npy", "labels": "labels.npy"}
    rest = {"problem": {"kind": "ridge"}, "algorithm": TWO}
    before, now = (
        check_config({"data": {**files, key: path}, **rest}, "c.toml", "/folder")
        for path in ("rows.npy", "/moved/rows.npy")
    )
    assert differences(before, before, now) == []


@pytest.mark.parametrize(
    ("section", "key", "value", "sentence"),
    [
        ("network", "topology", "star", "[network] topology is 'star', and was 'ring'"),
        ("run", "seed", 4, "[run] seed is 4, and was 1"),
        ("data", "rows", 61, "[data] rows is 61, and was 60"),
        ("data", "seed", 3, "[data] seed is 3, and was None"),
        ("problem", "l2", 1.0, "[problem] l2 is 1.0, and was 0.0"),
        ("evaluate", "every", 2, "[evaluate] every is 2, and was 1"),
    ],
)
def test_what_changes_the_bits_is_named(section, key, value, sentence):
    assert told(**{section: {key: value}}) == [sentence]


def test_algorithms_are_held_against_each_other():
    assert told([TWO[0], {**TWO[1], "step_size": 0.75}]) == [
        "[[algorithm]] pg-extra: step_size is 0.75, and was 'auto'"
    ]
    assert told(TWO[::-1]) == [
        "the algorithms are pg-extra, nids, and were nids, pg-extra"
    ]


def test_the_numbers_that_words_became_are_the_same_config():
    """Somebody may resume with config.toml in place of what was asked."""
    assert differences(ASKED, RESOLVED, RESOLVED) == []
    assert told([TWO[0], {**TWO[1], "step_size": NUMBERS[1]}]) == []


def test_a_continued_run_keeps_its_numbers_and_takes_the_new_budget():
    now = config_of(algorithm=TWO, stop={"steps": 7}, run={"timeout": 5.0})
    config = with_numbers(now, RESOLVED)
    assert config.algorithm == RESOLVED.algorithm
    assert config.run == replace(now.run, engine="compiled")
    assert config.stop == now.stop
    assert with_numbers(config, RESOLVED) == config
    wanted = config_of(algorithm=TWO, run={"engine": "python"})
    assert with_numbers(wanted, RESOLVED).run.engine == "python"
