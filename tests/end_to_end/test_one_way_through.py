"""A run passes each room once, in the order in which execution/run.py names them."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from tests.launcher import ROOT
from tests.support.running import SMALL

PROGRAM = """
import json
import sys

PHASES = (
    "pmgt_mpi.execution.network", "pmgt_mpi.execution.setup", "pmgt_mpi.config.schema"
)
calls, entered = [], {}


def module(frame):
    return "" if frame is None else frame.f_globals.get("__name__", "")


def look(frame, event, argument):
    if event != "call" or not module(frame).startswith("pmgt_mpi."):
        return
    caller = frame.f_back
    if module(caller) == "pmgt_mpi.execution.run":
        calls.append((caller.f_code.co_name, frame.f_code.co_name))
    elif module(caller) in PHASES:
        room = module(frame).split(".")[1]
        while caller is not None and module(caller.f_back) != "pmgt_mpi.execution.run":
            caller = caller.f_back
        if caller is not None:
            entered.setdefault(caller.f_code.co_name, []).append(room)


from pmgt_mpi.run import main

sys.setprofile(look)
code = main(["--config", "config.toml", "--out", "out"])
sys.setprofile(None)
resuming = [name for name in sys.modules if name.startswith("pmgt_mpi.checkpoints")]
print(json.dumps([code, calls, entered, resuming]))
"""

ROOMS = {"graphs", "data", "problems", "regularizers", "optimum"}


def test_set_up_enters_each_room_once_and_in_order(tmp_path):
    (tmp_path / "config.toml").write_text(SMALL)
    variables = {"PYTHONPATH": str(ROOT), "PMGT_CACHE": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=tmp_path,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    code, calls, entered, resuming = json.loads(done.stdout.splitlines()[-1])
    assert code == 0
    phases = [callee for caller, callee in calls if caller == "set_up"]
    assert phases == [
        "take_places", "learn_agents", "load_rows", "make_functions", "measure"
    ]  # fmt: skip
    story = [callee for caller, callee in calls if caller == "run"]
    names = ["choose_engine", "set_up", "resolve", "run_algorithm", "finish"]
    first = [story.index(name) for name in names]
    assert first == sorted(first)
    assert [story.count(name) for name in names] == [1, 1, 1, 4, 1]
    rooms = {phase: set(inside) & ROOMS for phase, inside in entered.items()}
    assert {phase: inside for phase, inside in rooms.items() if inside} == {
        "take_places": {"graphs"},
        "load_rows": {"data"},
        "make_functions": {"problems", "regularizers"},
        "measure": {"problems", "optimum"},  # its constants, then its minimiser
    }
    assert "pmgt_mpi.checkpoints.store" in resuming
    assert "pmgt_mpi.checkpoints.resume" not in resuming, "a fresh run resumes nothing"
    assert "pmgt_mpi.checkpoints.earlier" not in resuming
