"""A run passes each room once, in the order in which execution/run.py names them."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.launcher import ROOT
from tests.support.running import SMALL

PROGRAM = """
import json
import sys

STORY = ("pmgt_mpi.execution.command", "pmgt_mpi.execution.run")
# What a phase may do by others of its kind: execution's files, the config's own makers.
INSIDE = ("pmgt_mpi.execution", "pmgt_mpi.config.sections")
calls, entered = [], []


def module(frame):
    return "" if frame is None else frame.f_globals.get("__name__", "")


def look(frame, event, argument):
    if event != "call" or not module(frame).startswith("pmgt_mpi."):
        return
    caller, room = frame.f_back, module(frame).split(".")[1]
    if module(caller) in STORY:
        calls.append((caller.f_code.co_name, frame.f_code.co_name))
    elif not module(caller).startswith(INSIDE):
        return
    if module(frame).startswith(INSIDE):
        if module(frame) != "pmgt_mpi.execution.loop":
            return
        room = "loop"
    phase = frame
    while phase is not None and module(phase.f_back) not in STORY:
        phase = phase.f_back
    if module(phase).startswith("pmgt_mpi."):  # and not the import of a module
        entered.append((phase.f_code.co_name, room))


from pmgt_mpi.run import main

sys.setprofile(look)
code = main(["--config", "config.toml", "--out", "out"])
sys.setprofile(None)
resuming = [name for name in sys.modules if name.startswith("pmgt_mpi.checkpoints")]
print(json.dumps([code, calls, list(dict.fromkeys(entered)), resuming]))
"""

FIRST = [
    ("config", "read_config"),
    ("graphs", "take_places"),
    ("data", "load_rows"),
    ("problems", "make_functions"),
    ("regularizers", "make_functions"),
    ("optimum", "measure"),
    ("parameters", "resolve"),
    ("output", "open_folder"),
    ("checkpoints", "open_checkpoints"),
    ("agent", "run_algorithm"),
    ("loop", "run_algorithm"),
    ("pictures", "finish"),
]
"""The rooms that answer a question of the run, and the phases that need them first."""

ROOMS = {room for room, _ in FIRST}


@pytest.fixture(scope="module")
def traced(tmp_path_factory):
    """A run's exit code, calls of the story, rooms that phases enter, and modules."""
    folder = tmp_path_factory.mktemp("run")
    (folder / "config.toml").write_text(SMALL)
    variables = {"PYTHONPATH": str(ROOT), "PMGT_CACHE": str(folder / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=folder,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    code, calls, entered, resuming = json.loads(done.stdout.splitlines()[-1])
    assert code == 0
    return calls, entered, resuming


def test_set_up_enters_each_room_once_and_in_order(traced):
    calls, entered, _ = traced
    phases = [callee for caller, callee in calls if caller == "set_up"]
    assert phases == [
        "take_places", "learn_agents", "load_rows", "make_functions", "measure"
    ]  # fmt: skip
    rooms = {
        phase: {room for other, room in entered if other == phase} & ROOMS
        for phase in phases
    }
    assert {phase: inside for phase, inside in rooms.items() if inside} == {
        "take_places": {"graphs"},
        "load_rows": {"data"},
        "make_functions": {"problems", "regularizers"},
        "measure": {"problems", "optimum"},  # its constants, then its minimiser
    }


def test_the_story_names_each_phase_once_and_in_order(traced):
    calls, _, _ = traced
    story = [callee for caller, callee in calls if caller == "run"]
    names = [
        "choose_engine", "set_up", "resolve", "open_folder", "open_checkpoints",
        "write_config", "write_meta", "begin_algorithms", "run_algorithm", "finish",
    ]  # fmt: skip
    first = [story.index(name) for name in names]
    assert first == sorted(first)
    assert [story.count(name) for name in names] == [1] * 8 + [4, 1]


def test_a_run_enters_the_rooms_in_the_order_of_its_story(traced):
    _, entered, _ = traced
    first: dict[str, str] = {}
    for phase, room in entered:
        if room in ROOMS:
            first.setdefault(room, phase)
    # Two that one phase enters may come in any order.
    order = [phase for _, phase in FIRST]
    assert list(first.values()) == order
    assert first == dict(FIRST)
    last = {room: phase for phase, room in entered}
    assert last["graphs"] == "take_places"
    assert last["data"] == "load_rows"
    assert last["loop"] == last["agent"] == last["parameters"] == "run_algorithm"
    assert last["output"] == last["pictures"] == "finish"


def test_a_fresh_run_resumes_nothing(traced):
    calls, _, resuming = traced
    assert "pmgt_mpi.checkpoints.store" in resuming
    assert "pmgt_mpi.checkpoints.resume" not in resuming, "a fresh run resumes nothing"
    assert "pmgt_mpi.checkpoints.earlier" not in resuming
    assert "continue_earlier" not in {callee for _, callee in calls}
