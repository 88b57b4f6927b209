"""The search: every algorithm gets as many trials, with the same largest budget.

Successive halving: all trials run with a ninth of the budget, the best third of them
with a third of it, and the best third of these with all of it. So it is done with half
of the trials, anywhere in their ranges, and then with the other half, near the best of
these. Nobody's trial gets more than another's, and runs that reach the goal or diverge
are not repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from math import ceil, inf, isfinite
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.config.schema import Config
from pmgt_mpi.config.sections import AlgorithmSection
from pmgt_mpi.errors import UserError
from pmgt_mpi.execution.series import Job, Jobs, with_stream
from pmgt_mpi.output.table import short
from pmgt_mpi.terminal import printable, say
from pmgt_mpi.tune.cost import Beyond, Formula
from pmgt_mpi.tune.space import (
    Asked,
    choose,
    lattice,
    own_choice,
    own_place,
    quasi_random,
    tunables,
)
from pmgt_mpi.tune.trials import ENDED, REACHED, Judge, Trial

THIRD = 3
"""Of the trials of a rung go on, with so many times the budget."""

RUNGS = 3

NEAR = 0.25
"""Part of each range about the best trial, in its logarithm, that the later half of the
trials is in."""

PATIENCE = 2.0
"""A run ends, as it falls behind, at this multiple of the best trial's cost so far."""

FIRST_STREAM = 101
"""Seed of the first stream: results are to be shown with others, 1, 2 …"""


@dataclass
class Search:
    """What is searched for, and how.

    Attributes
    ----------
    config
        As asked.
    resolve
        Makes every word of a section's method a number.
    rows
        Of the smallest shard.
    cost, judge
        What is to be least, and of which run of a trial.
    trials, streams
        Trials of each algorithm, and runs of each trial.
    how
        ``halving``, or ``grid``: a lattice, all of it with the whole budget.
    budget
        Of one run; None to take what the dearest of the config's own values costs.
    ranges
        Given by the user.
    found
        All trials of each algorithm, by its label.
    """

    config: Config
    resolve: Callable[[AlgorithmSection], Any]
    rows: int
    cost: Formula
    judge: Judge
    trials: int
    streams: int
    how: Literal["halving", "grid"]
    budget: float | None
    ranges: list[Asked]
    found: dict[str, list[Trial]] = field(default_factory=dict)

    def jobs(self) -> Jobs:
        """Ask for the runs of all trials."""
        for section in self.config.algorithm:
            choices = own_choice(section, self.resolve(section))
            places = own_place(section, choices, self.ranges)
            own = Trial(0, places, section, choices)
            self.found[section.label] = [own]
            yield from self._run(own, self.budget or inf)
            self._refuse_small(own)
            say(f"{printable(section.label)}: own values: {self._told(own)}")
        budget = self._budget()
        say(
            f"{self.trials} trials of each algorithm, {self.runs_told} each, largest "
            f"budget {short(budget)} ({self.cost.text})"
        )
        for section in self.config.algorithm:
            self.found[section.label][0].budget = budget
            yield from self._tune(section, budget)

    def best(self, label: str) -> Trial:
        """Return the trial with the least score among those with the whole budget."""
        trials = self.found[label]
        most = max(trial.budget for trial in trials)
        last = [trial for trial in trials if trial.budget == most]
        return min(last, key=lambda trial: trial.score(self.cost, self.judge))

    @property
    def runs_told(self) -> str:
        """How many runs a trial has, in words."""
        return "1 run" if self.streams == 1 else f"{self.streams} runs"

    def _tune(self, section: AlgorithmSection, budget: float) -> Jobs:
        """Make the trials of one algorithm."""
        dimensions = len(tunables(section.method))
        if not dimensions:
            return
        if self.how == "grid":
            places = lattice(self.trials, dimensions)
            yield from self._halve(section, places, budget, rungs=1)
            return
        near = self.trials // 2
        places = quasi_random(self.trials - near, dimensions)
        yield from self._halve(section, places, budget, rungs=RUNGS)
        centre = self.best(section.label).place
        places = (
            np.clip(centre + NEAR * (place - 0.5), 0, 1)
            for place in quasi_random(near, dimensions)
        )
        yield from self._halve(section, places, budget, rungs=RUNGS)

    def _halve(
        self,
        section: AlgorithmSection,
        places: Iterable[NDArray[Any]],
        budget: float,
        rungs: int,
    ) -> Jobs:
        """Run trials with a part of the budget each, and the best of them with more."""
        before = self.found[section.label]
        trials = [
            Trial(number, place, *choose(
                section, place, self.resolve, self.rows, self.ranges
            ))
            for number, place in enumerate(places, len(before))
        ]  # fmt: skip
        before += trials
        for rung in range(rungs):
            part = budget / THIRD ** (rungs - 1 - rung)
            for trial in trials:
                yield from self._run(trial, part)
            trials.sort(key=lambda trial: trial.score(self.cost, self.judge))
            if trials:
                some = "1 trial" if len(trials) == 1 else f"{len(trials)} trials"
                say(
                    f"{printable(section.label)}: {some} up to {short(part)}, best: "
                    f"{self._told(trials[0])}"
                )
            trials = trials[: ceil(len(trials) / THIRD)]

    def _run(self, trial: Trial, budget: float) -> Jobs:
        """Run a trial with every stream, unless a smaller budget was enough."""
        trial.budget = budget
        label = trial.section.label
        for stream in range(FIRST_STREAM, FIRST_STREAM + self.streams):
            before = trial.runs.get(stream)
            if before is not None and before["status"] in ENDED:
                continue
            cap = min(budget, PATIENCE * self._least(label))
            config = replace(
                with_stream(self.config, stream), algorithm=(trial.section,)
            )
            key = f"{label}, trial {trial.number}, up to {cap:.6g}, stream {stream}"
            beyond = Beyond(self.cost, cap) if isfinite(cap) else None
            tags = {"algorithm": label, "trial": trial.number, "stream": stream}
            trial.runs[stream] = yield Job(key, config, beyond, tags)

    def _least(self, label: str) -> float:
        """Cost of the algorithm's best trial so far, of those with all their runs."""
        scores = [
            trial.score(self.cost, self.judge)
            for trial in self.found[label]
            if len(trial.runs) == self.streams
        ]
        return min((s.value for s in scores if s.kind == REACHED), default=inf)

    def _refuse_small(self, own: Trial) -> None:
        """Refuse a budget in which a trial comes to no record after its start."""
        firsts = [
            self.cost(run["first"]) for run in own.runs.values() if "first" in run
        ]
        if self.budget is None or not firsts or min(firsts) <= self.budget:
            return
        raise UserError(
            f"--budget {self.budget:g} is too small for one trial: {own.section.label} "
            f"needs {min(firsts):.6g} ({self.cost.text}) up to its first record; give "
            "more, or no --budget for what the config's own values cost, and another "
            "--out"
        )

    def _budget(self) -> float:
        """Return the largest cost of one run, the same for all algorithms."""
        if self.budget is not None:
            return self.budget
        costs = [
            self.cost(run["end"])
            for (own,) in self.found.values()
            for run in own.runs.values()
            if "end" in run
        ]
        if not any(costs):
            raise UserError(
                "no algorithm could run with its own values, which would tell the "
                "budget; give --budget"
            )
        return max(costs)

    def _told(self, trial: Trial) -> str:
        """Say what a trial costs, and its values if they are not the config's own."""
        score = trial.score(self.cost, self.judge)
        values = ", ".join(f"{c.name} = {c.value:.4g}" for c in trial.choices)
        chosen = f" ({values})" if trial.number else ""
        if score.kind == REACHED:
            return f"{short(score.value)}{chosen}"
        statuses = sorted({run["status"] for run in trial.runs.values()})
        return f"goal not reached yet, {' or '.join(statuses)}{chosen}"
