"""What a run is made of, and how it is told that it is not as it was."""

from __future__ import annotations

import platform

import numpy as np

from pmgt_mpi.checkpoints.identity import changed_machines, differing_facts, machine


def test_a_machine_is_all_that_may_give_other_last_bits():
    own = machine()
    assert list(own) == ["CPU", "BLAS", "numpy", "C library"]
    assert own["numpy"] == np.__version__
    if platform.libc_ver()[0] == "glibc":
        assert own["C library"] == " ".join(platform.libc_ver())


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
