"""The search, with the results of runs whose cost is a formula of their parameters."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf, log
from typing import Annotated, Any, ClassVar

import pytest

from pmgt_mpi.config.read import check_config
from pmgt_mpi.config.sections import AlgorithmSection
from pmgt_mpi.errors import UserError
from pmgt_mpi.options import Positive, Tunable
from pmgt_mpi.tune.cost import Formula
from pmgt_mpi.tune.search import FIRST_STREAM, PATIENCE, Search
from pmgt_mpi.tune.trials import NEARER, NO_NEARER, REACHED, score_of
from tests.unit.test_documents import SMALLEST

GOAL = 1e-6


@dataclass(frozen=True, kw_only=True)
class Mine:
    traits: ClassVar[Any] = None
    step_size: Annotated[Positive, Tunable(16)] = 1.0


SECTIONS = tuple(
    AlgorithmSection(name="mine:Mine", method=Mine(step_size=step), label=label)
    for label, step in (("one", 1.0), ("two", 0.5))
)

BEST = 2.3


def cost_of(step, stream):
    """Of the goal: least at `BEST`; some streams are dearer."""
    return 1000.0 * (1 + log(step / BEST) ** 2) * (1 + 0.1 * (stream % 3))


def run(job):
    """The result of a job, ended by its cost where that is above its cap."""
    (section,) = job.config.algorithm
    step, stream = section.method.step_size, job.config.run.seed
    whole = cost_of(step, stream)
    first, last = ends(10.0), ends(whole)
    status, left = "converged", GOAL
    if step > 10:
        status, left, last = "diverged", None, ends(30.0)
    elif job.beyond is not None and job.beyond(last):
        paid = next(c for c in range(10, 10**6, 10) if job.beyond(ends(c)))
        status, last, left = "budget", ends(paid), exp(log(GOAL) * paid / whole)
    used = {"step_size": step}
    return {"status": status, "first": first, "end": last, "left": left,
            "parameters": used}  # fmt: skip


def ends(cost):
    counts = ("gradients_paper", "rounds", "messages", "bytes", "seconds")
    return {"gradients": cost, **dict.fromkeys(counts, 0)}


def searched(**more):
    config = check_config(SMALLEST, "here", ".")
    options = {
        "config": config.__class__(problem=config.problem, data=config.data,
                                   algorithm=SECTIONS),
        "resolve": lambda section: section.method, "rows": 100,
        "cost": Formula("gradients"), "judge": "median", "trials": 9, "streams": 3,
        "how": "halving", "budget": None, "ranges": [], **more,
    }  # fmt: skip
    search, done = Search(**options), []
    jobs = search.jobs()
    job = next(jobs)
    while True:
        done.append(job)
        try:
            job = jobs.send(run(job))
        except StopIteration:
            return search, done


def test_it_finds_the_step_that_costs_least():
    search, _ = searched(trials=54)
    for label in ("one", "two"):
        best = search.best(label)
        costs = {
            trial.number: sorted(
                cost_of(trial.choices[0].value, s) for s in (101, 102, 103)
            )[1]
            for trial in search.found[label]
        }
        assert best.number == min(costs, key=costs.get)
        assert best.score(search.cost, "median").kind == REACHED


@pytest.mark.parametrize("how", ["halving", "grid"])
def test_every_algorithm_has_as_many_trials_and_no_run_a_larger_budget(how):
    search, done = searched(how=how)
    assert [len(trials) for trials in search.found.values()] == [10, 10]
    budget = max(cost_of(1.0, s) for s in (101, 102, 103))
    budget = max(budget, max(cost_of(0.5, s) for s in (101, 102, 103)))
    caps = [job.beyond.cap for job in done if job.beyond is not None]
    assert max(caps) <= budget
    own = [job for job in done if job.tags["trial"] == 0]
    assert len(own) == 6
    assert {job.tags["stream"] for job in done} == set(
        range(FIRST_STREAM, FIRST_STREAM + 3)
    )
    assert len({job.key for job in done}) == len(done)


def test_a_third_goes_on_with_three_times_the_budget_in_both_halves():
    search, _ = searched(trials=36)
    trials = search.found["one"]
    largest = trials[0].budget
    for half in (trials[1:19], trials[19:]):
        budgets = [trial.budget for trial in half]
        counts = [sum(b > largest / part * 0.99 for b in budgets) for part in (1, 3, 9)]
        assert counts == [2, 6, 18]


def test_the_later_half_is_near_the_best_of_the_others():
    search, _ = searched(trials=36)
    for trials in search.found.values():
        ahead = [trial for trial in trials[:19] if trial.budget == trials[0].budget]
        best = min(ahead, key=lambda trial: trial.score(search.cost, "median"))
        near = [trial.place - best.place for trial in trials[19:]]
        assert max(abs(far[0]) for far in near) <= 1 / 8
        assert search.best(trials[0].section.label).number > 18


def test_a_run_that_falls_behind_is_ended_early():
    _, done = searched(how="grid", budget=1e9)
    runs: dict[tuple[str, int], list[float]] = {}
    for job in done:
        trial = job.tags["algorithm"], job.tags["trial"]
        judged = [
            sorted(costs)[1]
            for (label, _), costs in runs.items()
            if label == trial[0] and len(costs) == 3
        ]
        assert job.beyond.cap == min([1e9, *(PATIENCE * cost for cost in judged)])
        result = run(job)
        reached = result["status"] == "converged"
        cost = result["end"]["gradients"] if reached else inf
        runs.setdefault(trial, []).append(cost)
    assert any(inf in costs for costs in runs.values())


def test_a_run_at_its_end_is_not_repeated():
    _, done = searched(trials=18)
    ended = set()
    for job in done:
        place = job.tags["algorithm"], job.tags["trial"], job.tags["stream"]
        assert place not in ended
        if run(job)["status"] in ("converged", "diverged"):
            ended.add(place)


def test_the_worst_run_judges_where_that_is_asked():
    search, _ = searched(judge="worst")
    trial = search.best("one")
    runs = [score_of(one, search.cost) for one in trial.runs.values()]
    assert trial.score(search.cost, "worst") == max(runs)
    assert trial.score(search.cost, "median") == sorted(runs)[1]


def test_runs_are_in_order_goal_way_and_nowhere():
    cost = Formula("gradients")
    results = [
        {"status": "converged", "end": ends(900.0), "left": GOAL},
        {"status": "budget", "end": ends(10.0), "left": 0.1},
        {"status": "budget", "end": ends(10.0), "left": 0.5},
        {"status": "budget", "end": ends(90.0), "left": 1.5},
        {"status": "diverged", "end": ends(10.0), "left": 0.9},
        {"status": "failed"},
    ]
    scores = [score_of(result, cost) for result in results]
    assert scores == sorted(scores)
    kinds = [score.kind for score in scores]
    assert kinds == [REACHED, NEARER, NEARER, NO_NEARER, NO_NEARER, NO_NEARER]


def test_a_budget_that_is_too_small_for_a_trial_is_refused():
    with pytest.raises(UserError, match=r"--budget 5 is too small for one trial: one"):
        searched(budget=5.0)
