"""A user's own algorithm in the conformance suite: what holds and what does not."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from pmgt_mpi.errors import UserError
from tests.launcher import ROOT, mpirun, run
from tests.support.methods import with_numbers
from tests.support.tally import Suite

TRACKING = '''
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class State:
    x: Any
    t: Any
    g: Any


@dataclass(frozen=True)
class Tracking:
    """Gradient descent with gradient tracking."""

    step_size: float = 0.1

    def init(self, agent, x0):
        g = agent.grad(x0)
        return State(x0, g, g)

    def step(self, agent, k):
        x = agent.gossip(k.x - self.step_size * k.t)
        g = agent.grad(x)
        return State(x, agent.gossip(k.t + g - k.g), g)

    def solution(self, k):
        return k.x

    def resolve(self, setting):
        return self
'''

WRONG = '''
from dataclasses import dataclass, replace

from mpi4py import MPI
from mpi4py.MPI import COMM_WORLD

from tracking import State, Tracking

AGENT = COMM_WORLD.rank


@dataclass(frozen=True)
class Favours(Tracking):
    """Its first agent takes other steps than the others."""

    def step(self, agent, k):
        scale = 0.5 if AGENT == 0 else 1.0
        return super().step(agent, replace(k, t=scale * k.t))


@dataclass(frozen=True)
class Asks(Tracking):
    """It asks at every step which agent it is."""

    def step(self, agent, k):
        return super().step(agent, replace(k, t=(1 + 0 * COMM_WORLD.rank) * k.t))


@dataclass(frozen=True)
class Sums(Tracking):
    """It averages by a global sum."""

    def step(self, agent, k):
        x = agent.gossip(k.x - self.step_size * k.t)
        g = agent.grad(x)
        t = MPI.COMM_WORLD.allreduce(g) / MPI.COMM_WORLD.size
        return State(x, t, g)


@dataclass(frozen=True)
class Hides(Tracking):
    """Its gradients are not counted."""

    def step(self, agent, k):
        x = agent.gossip(k.x - self.step_size * k.t)
        g = agent._weighted(agent._problem.grad(x))
        return State(x, agent.gossip(k.t + g - k.g), g)


@dataclass(frozen=True)
class Unheard(Tracking):
    """The tests know no value of its parameter."""

    beta: str = "auto"
'''

CAUGHT = {
    "Favours": "test_agents_with_the_same_rows_and_chance_do_the_same",
    "Asks": "test_same_bits_without_collectives",
    "Sums": "test_same_bits_without_collectives",
    "Hides": "test_every_gradient_that_is_taken_is_counted",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a user's folder with what a user wrote."""
    (tmp_path / "tracking.py").write_text(TRACKING)
    (tmp_path / "wrong.py").write_text(WRONG)
    return tmp_path


SET_UP = f"""
root={{root}}
python={sys.executable}
set_up() {{ :; }}
"""
"""Stands for launch/setup.sh, where there is nothing to install."""


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Return a checkout whose set-up is complete, with the tests of this one."""
    root = tmp_path / "a clone"
    shutil.copytree(
        ROOT / "tests", root / "tests", ignore=shutil.ignore_patterns("__pycache__")
    )
    (root / "launch").mkdir()
    (root / "launch" / "setup.sh").write_text(SET_UP.replace("{root}", f"'{root}'"))
    (root / "scripts").mkdir()
    shutil.copy(ROOT / "scripts" / "test.sh", root / "scripts")
    shutil.copy(ROOT / "pyproject.toml", root)
    return root


def test_what_holds_of_a_users_algorithm_is_shown(clone: Path, folder: Path) -> None:
    script = ["bash", str(clone / "scripts" / "test.sh")]
    ask = ["--plugin", "tracking:Tracking", "-k", "test_methods or test_suite and 5"]
    result = run([*script, *ask], cwd=folder, timeout=120).expect(0)
    assert "(5 ranks), 0 tests started mpirun themselves; 3 tests skipped" in (
        result.stdout
    )
    for lack in ("states no costs", "has no matrix form", "is not registered"):
        assert f": tracking:Tracking {lack}" in result.stdout


def test_what_does_not_hold_is_named(folder: Path) -> None:
    report = folder / "report.xml"
    options = ["--with-mpi", "-p", "no:cacheprovider", f"--junitxml={report}"]
    options += [f"--plugin=wrong:{name}" for name in CAUGHT]
    tests = [f"tests/mpi/conformance/test_{x}.py" for x in ("costs", "no_global_step")]
    path = f"{folder}:{os.environ.get('PYTHONPATH', '')}"
    result = mpirun(4, ["-m", "pytest", *options, *tests], env={"PYTHONPATH": path})
    assert result.returncode == 1, result
    failed = {name.rpartition(".")[2] for name in Suite.read(report).failed}
    found = {re.match(r"(\w+)\[wrong:(\w+)", name).groups() for name in failed}
    assert found == {(test, name) for name, test in CAUGHT.items()}, result


@pytest.mark.parametrize(
    ("address", "complaint"),
    [
        ("tracking:Nope", "cannot import 'tracking:Nope': module 'tracking' has no"),
        ("tracking:State", "tracking:State has no method init, which a run calls"),
        ("tracking:Any", "tracking:Any is not a dataclass"),
        ("wrong:Unheard", "wrong:Unheard has a parameter beta for which the tests"),
    ],
)
def test_what_is_no_algorithm_is_refused(
    address: str, complaint: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(folder)
    for module in ("tracking", "wrong"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    with pytest.raises(UserError) as told:
        with_numbers(address)
    assert str(told.value).startswith(complaint)
