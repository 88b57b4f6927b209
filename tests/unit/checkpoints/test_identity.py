"""What may differ between a run and its continuation, and how the rest is named."""

from __future__ import annotations

import copy

import pytest

from pmgt_mpi.checkpoints.identity import changed_machines, differences, differing_facts
from pmgt_mpi.config.write import resolved_config
from tests.unit.config.configs import plan_of

BEFORE = resolved_config(plan_of(algorithm=[{"name": "nids"}, {"name": "pg-extra"}]))


@pytest.mark.parametrize(
    ("section", "key", "value"),
    [
        ("stop", "steps", 7),
        ("stop", "seconds", 9.0),
        ("checkpoint", "minutes", 1.0),
        ("run", "name", "other"),
        ("data", "path", "/moved/rows.npy"),
    ],
)
def test_budget_cadence_and_places_may_change(section, key, value):
    now = copy.deepcopy(BEFORE)
    now[section][key] = value
    now["algorithm"][1]["steps"] = 9999
    assert differences(BEFORE, now) == []


@pytest.mark.parametrize(
    ("section", "key", "value", "told"),
    [
        ("network", "topology", "star", "[network] topology is 'star', and was 'ring'"),
        ("run", "seed", 4, "[run] seed is 4, and was 1"),
        ("data", "rows", 61, "[data] rows is 61, and was 60"),
        ("network", "engine", "c", "[network] engine is 'c', and was None"),
        ("problem", "l2", 1.0, "[problem] l2 is 1.0, and was "),
    ],
)
def test_what_changes_the_bits_is_named(section, key, value, told):
    now = copy.deepcopy(BEFORE)
    now[section][key] = value
    (difference,) = differences(BEFORE, now)
    assert difference.startswith(told)


def test_algorithms_are_held_against_each_other():
    now = copy.deepcopy(BEFORE)
    now["algorithm"][1]["step_size"] = 0.5
    assert differences(BEFORE, now) == [
        "[[algorithm]] pg-extra: step_size is 0.5, and was 'auto'"
    ]
    now["algorithm"].reverse()
    assert differences(BEFORE, now) == [
        "the algorithms are pg-extra, nids, and were nids, pg-extra"
    ]


def test_facts_name_the_agent_whose_part_differs():
    before = {"agents": 2, "network": ["a", "b"], "data": ["c", "d"], "engine": "x"}
    assert differing_facts(before, dict(before)) == []
    now = {"agents": 2, "network": ["a", "b"], "data": ["c", "e"], "engine": "y"}
    assert differing_facts(before, now) == [
        "the data of agent 1 differ from what they were",
        "the engine is y, and was x",
    ]
    now = {**before, "agents": 3, "network": ["a", "b", "c"]}
    assert differing_facts(before, now) == [
        "the number of ranks is 3, and was 2",
        "the graph or its weights W differ from what they were",
    ]


def test_another_cpu_or_blas_is_named_once():
    old = [{"CPU": "a", "BLAS": "1"}] * 3
    new = [{"CPU": "a", "BLAS": "1"}] + [{"CPU": "b", "BLAS": "1"}] * 2
    assert changed_machines(old, new) == ["CPU is b, and was a"]
