"""What a measured ratio says of a claim of the paper."""

from __future__ import annotations

import importlib
import math
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from pmgt_mpi.algorithms import ALGORITHMS
from tests.unit.algorithms.test_methods import lone_agent

SCRIPTS = Path(__file__).parents[3] / "scripts"


def module(name: str) -> ModuleType:
    with pytest.MonkeyPatch.context() as patch:
        folders = [str(SCRIPTS / folder) for folder in ("search", "paper")]
        patch.setattr(sys, "path", [*sys.path, *folders])
        return importlib.import_module(name)


@pytest.fixture(scope="module")
def claims() -> ModuleType:
    return module("claims")


@pytest.mark.parametrize(
    ("value", "bound", "fewer", "more"),
    [
        (0.5, "", True, False),
        (2.0, "", False, True),
        (0.5, "<", True, False),
        (2.0, "<", None, None),
        (2.0, ">", False, True),
        (0.5, ">", None, None),
        (0.5, "?", None, None),
        (0.0, "diverges", True, False),
    ],
)
def test_a_bound_shows_something_on_its_own_side_only(
    claims, value, bound, fewer, more
):
    found = claims.Ratio(value, bound)
    assert found.shows(fewer=True) is fewer
    assert found.shows(fewer=False) is more


class Seeds:
    """An experiment whose ratios are given: a record for each seed and method."""

    def __init__(self, own: list[float | None], rival: list[float | None]) -> None:
        self.costs = {"pmgt-katyushax": own, "nids": rival}
        self.runs = dict.fromkeys(range(len(own)), self)

    def status(self, method: str) -> str:
        diverged = math.inf in self.costs[method]
        return "diverged" if diverged else "converged"

    def reached(self, seed: int, method: str) -> dict[str, float] | None:
        cost = self.costs[method][seed]
        return None if cost is None else {"rounds": cost}

    def last(self, seed: int, method: str) -> dict[str, float]:
        del seed, method
        return {"rounds": 100.0}


@pytest.mark.parametrize(
    ("own", "rival", "told", "text"),
    [
        ([10, 20], [40, 40], "holds", "0.38 (0.25 … 0.5)"),
        ([10, 80], [40, 40], "holds on 1 of 2 seeds", "1.1 (0.25 … 2)"),
        ([80, 80], [40, 40], "**does not hold**", "2 (2 … 2)"),
        ([10, 20], [None, None], "holds", "< 0.15 (0.1 … 0.2)"),
        ([None], [None], "not known", "? 1"),
        ([None], [50], "**does not hold**", "> 2"),
        ([10], [math.inf], "holds", "diverges"),
    ],
)
def test_verdict_and_spread_over_the_seeds(claims, own, rival, told, text):
    experiment = Seeds(own, rival)
    claim = claims.Claim("", 2, "", "rounds", ("nids",))
    assert claims.verdict(claim, experiment) == told
    assert claims.spread(claims.ratios(experiment, "nids", "rounds")) == text


class Finished:
    """An experiment of n = 30 of which the config is given."""

    data, ratio, n = "synthetic", 300, 30

    def __init__(self, batch_size: int | str) -> None:
        algorithm = [
            {"name": "pmgt-svrg", "batch_size": 30},
            {"name": "pmgt-katyushax", "batch_size": batch_size},
        ]
        self.first = self
        self.config = {"algorithm": algorithm}


def test_a_batch_of_all_rows_is_said_to_be_a_method_of_full_gradients():
    text = module("page_text").whole_batches
    assert text([Finished(29), Finished("sqrt")]) == []
    told = text([Finished(29), Finished(30)])
    assert told[0] == ""
    words = " ".join(told[1:])
    assert words.startswith(
        "On Synthetic ±1 data at r = 300 the best b of PMGT-KatyushaX is n: T is 0 in "
        "every epoch, and"
    )
    page = (SCRIPTS.parent / "docs" / "reproduction.md").read_text()
    assert "\n".join(told) in page, "the page has the words of its generator"


def test_what_a_batch_of_all_rows_costs():
    """The gradients of an epoch, and those of them that are differences of nothing."""
    cost = ALGORITHMS.load("pmgt-katyushax").traits.cost
    letters = {"n": 30, "b": 30, "T": 0}
    assert eval(cost.gradients, letters) == 3 * 30
    assert eval(cost.paper, letters) == 2 * 30
    agent = lone_agent()
    method = ALGORITHMS.load("pmgt-katyushax")(
        batch_size=30, step_size=0.05, momentum=0.3, mix_rounds=2
    )
    state, taken, difference = method.init(agent, np.ones(6)), [], agent.grad_difference

    def watched(*arguments):
        taken.append(difference(*arguments))
        return taken[-1]

    agent.grad_difference = watched
    for _ in range(5):
        state = method.step(agent, state)
    assert len(taken) == 5
    assert not np.any(taken)


def test_committed_configs_are_those_of_the_sweep_and_its_table():
    declared, table, files = map(
        module, ("declared", "sweep_table", "config_files")
    )  # fmt: skip
    sweep, rows = declared.read_sweep(), table.read_table()
    assert len(sweep.cases) == 6
    for case in sweep.cases:
        own = [row for row in rows if row["problem"] == case.name]
        assert [row["method"] for row in own] == sweep.methods
        assert case.path.read_text() == files.config_text(sweep, case, own)
        assert {row["inside"] for row in own} == {"yes"}
