"""What the tuning does on every rank."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from pmgt_mpi.config.read import read_config
from pmgt_mpi.config.schema import Config
from pmgt_mpi.config.sections import AlgorithmSection, CostSection
from pmgt_mpi.config.write import toml_values
from pmgt_mpi.errors import UserError
from pmgt_mpi.execution.command import on_world
from pmgt_mpi.execution.log import try_to_draw
from pmgt_mpi.execution.series import Series, resolved, with_stream
from pmgt_mpi.execution.setup import Setup
from pmgt_mpi.execution.shared_setup import Ready, SetUps
from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.mpi.world import library
from pmgt_mpi.output.folder import default_path
from pmgt_mpi.output.meta import circumstances
from pmgt_mpi.output.results import Finished
from pmgt_mpi.output.series import Result, SeriesFolder
from pmgt_mpi.output.study import GOALS
from pmgt_mpi.output.table import aligned, short
from pmgt_mpi.output.tuning import Tuned, trial_rows
from pmgt_mpi.parameters.guard import guarded_parameters
from pmgt_mpi.parameters.resolve import resolved_method
from pmgt_mpi.terminal import printable, say, write
from pmgt_mpi.tune.cost import Formula
from pmgt_mpi.tune.search import FIRST_STREAM, Search
from pmgt_mpi.tune.space import Asked, read_ranges
from pmgt_mpi.tune.trials import REACHED, Trial
from pmgt_mpi.watchdog.signals import INTERRUPTED, Monitor
from pmgt_mpi.watchdog.watchdog import Watchdog

ROUND_IN_GRADIENTS = 100.0
"""What a round costs where the config leaves it to be measured."""


class Tuning(NamedTuple):
    """A tuning that is asked for, on agent 0."""

    config: Config
    cost: Formula
    ranges: list[Asked]
    asked: dict[str, Any]


def tune_command(options: argparse.Namespace, monitor: Monitor) -> int:
    """Tune on the world; return the exit code."""
    return on_world(lambda everyone: _tune(options, everyone, monitor), monitor)


def _tune(options: argparse.Namespace, everyone: Collective, monitor: Monitor) -> int:
    tuning: Tuning | None = None
    config: Config | None = None
    with everyone.agreed():
        if everyone.agent == 0:
            tuning = _read(options, everyone.agents)
            config = tuning.config
    config = everyone.from_first(config)
    assert config is not None
    watchdog = Watchdog(everyone, monitor, config.run.timeout)
    set_ups = SetUps(everyone, watchdog)
    # What is refused here leaves no folder.
    setup = resolved(set_ups, with_stream(config, FIRST_STREAM))[0].setup
    folder: SeriesFolder | None = None
    with everyone.agreed():
        if tuning is not None:
            folder = _open(tuning, options.out)
    series = Series(set_ups, watchdog, _kept)
    if tuning is None or folder is None:
        signal = series.run(None, None)
    else:
        resolve, rows = _resolver(config, setup), min(setup.rows)
        search = _search(options, tuning, resolve, rows)
        signal = series.run(search.jobs(), folder)
        _finish(search, folder, signal)
    return 0 if signal is None else INTERRUPTED


def _read(options: argparse.Namespace, ranks: int) -> Tuning:
    """Read what is asked for."""
    plugins = options.allow_plugins
    config = read_config(options.config, options.set, allow_plugins=plugins)
    if not any(getattr(config.stop, key) for key in GOALS):
        raise UserError(
            f"{options.config}: [stop] has no goal, so no trial can be said to cost "
            f"less than another; set one of {', '.join(GOALS)}"
        )
    weight = config.cost.round_in_gradients
    if weight == "auto":  # or trials would differ as measurements do
        weight = ROUND_IN_GRADIENTS
        config = replace(config, cost=CostSection(round_in_gradients=weight))
    cost = Formula(options.cost or f"gradients + {weight:g}*rounds")
    ranges = read_ranges(options.range, config.algorithm)
    asked = {
        "config": toml_values(config),
        "cost": cost.text,
        "trials": options.trials,
        "budget": options.budget or 0,
        "streams": options.streams,
        "judge": options.judge,
        "search": options.search,
        "ranges": [one.__dict__ for one in ranges],
        "ranks": ranks,
    }
    return Tuning(config, cost, ranges, asked)


def _open(tuning: Tuning, out: Path | None) -> SeriesFolder:
    """Make the folder, or continue in it."""
    path = out or default_path(f"{tuning.config.run.name}-tuning")
    head = {**circumstances(library()), "asked": tuning.asked}
    folder = SeriesFolder(path, "tuning", head)
    folder.write_toml("asked.toml", toml_values(tuning.config))
    done = len(folder.results)
    say(f"tuning: {done} runs are done; folder: {path}" if done else f"folder: {path}")
    return folder


def _resolver(config: Config, setup: Setup) -> Callable[[AlgorithmSection], Any]:
    return lambda section: resolved_method(config, section, setup)


def _search(
    options: argparse.Namespace,
    tuning: Tuning,
    resolve: Callable[[AlgorithmSection], Any],
    rows: int,
) -> Search:
    return Search(
        config=tuning.config,
        resolve=resolve,
        rows=rows,
        cost=tuning.cost,
        judge=options.judge,
        trials=options.trials,
        streams=options.streams,
        how=options.search,
        budget=options.budget,
        ranges=tuning.ranges,
    )


def _kept(done: Finished, ready: Ready) -> Result:  # noqa: ARG001
    """What is kept of a run: its first and its last record, and what is left."""
    start, end = done.records[0], done.records[-1]
    left = end["relative_suboptimality"]
    if left is None and start.get("gradient_mapping"):
        left = end["gradient_mapping"] / start["gradient_mapping"]
    return {
        # A run is ended by its cost: else the series is interrupted, and keeps nothing.
        "status": "budget" if done.status == "interrupted" else done.status,
        "parameters": done.parameters,
        "first": done.records[min(1, len(done.records) - 1)],
        "end": end,
        "left": left,
    }


def _finish(search: Search, folder: SeriesFolder, signal: str | None) -> None:
    """Write and tell what was found."""
    if signal is not None:
        folder.close()
        say(
            f"interrupted ({signal}); to continue give the same command with --out "
            f"{folder.path}"
        )
        return
    config = search.config
    tuned = [_tuned(search, section) for section in config.algorithm]
    folder.write_csv("trials.csv", trial_rows(tuned))
    best = [search.best(section.label) for section in config.algorithm]
    sections = tuple(_with_best(trial, config) for trial in best)
    values = toml_values(replace(config, algorithm=sections))
    folder.write_toml("best.toml", values)
    folder.close()
    write("\n" + _table(search, best) + "\n\n")
    for trial in best:
        _tell_edges(trial)
    try_to_draw(lambda: _draw(folder.path, tuned, search.cost.text), folder.path)
    say(f"trials: {folder.path / 'trials.csv'}")
    say(f"best values: {folder.path / 'best.toml'}")


def _with_best(trial: Trial, config: Config) -> AlgorithmSection:
    """Return the section with numbers for all that was chosen, as its runs had them."""
    used = trial.parameters()
    names = {choice.name for choice in trial.choices}
    method = replace(
        trial.section.method, **{k: v for k, v in used.items() if k in names}
    )
    guard = guarded_parameters(trial.section, config.mixing.rounds)
    return replace(trial.section, method=method, guard=guard)


def _tuned(search: Search, section: AlgorithmSection) -> Tuned:
    trials = search.found[section.label]
    rows = []
    for trial in trials:
        score = trial.score(search.cost, search.judge)
        statuses = [run["status"] for run in trial.runs.values()]
        reached = score.kind == REACHED
        rows.append(
            {
                "trial": trial.number,
                "budget": trial.budget,
                "runs": len(statuses),
                "reached": statuses.count("converged"),
                "diverged": statuses.count("diverged"),
                "failed": statuses.count("failed") + statuses.count("refused"),
                "cost": score.value if reached else None,
                "cost_per_e": trial.rate(search.cost),
                **{choice.name: choice.value for choice in trial.choices},
            }
        )
    names = [choice.name for choice in trials[0].choices]
    return Tuned(section.label, names, rows, search.best(section.label).number)


def _table(search: Search, best: list[Trial]) -> str:
    """Own values and best values of every algorithm."""
    rows = [["algorithm", "own values", "best", "times less", "best values"]]
    for trial in best:
        own = search.found[trial.section.label][0]
        costs = [one.score(search.cost, search.judge) for one in (own, trial)]
        times = "–"
        if all(one.kind == REACHED for one in costs):
            times = f"{costs[0].value / costs[1].value:.3g}"
        told = [short(c.value) if c.kind == REACHED else "–" for c in costs]
        values = ", ".join(f"{c.name} = {c.value:.4g}" for c in trial.choices)
        rows.append([printable(trial.section.label), *told, times, values or "–"])
    title = f"cost ({search.cost.text}), {search.judge} of {search.runs_told}"
    return f"{title}\n{_laid_out(rows)}"


def _laid_out(rows: list[list[str]]) -> str:
    lines = aligned([row[:-1] for row in rows], 1).split("\n")
    ends = [rows[0][-1], "-" * len(rows[0][-1]), *(row[-1] for row in rows[1:])]
    width = max(map(len, lines))
    pairs = zip(lines, ends, strict=True)
    return "\n".join(f"{line.ljust(width)}  {end}" for line, end in pairs)


def _tell_edges(trial: Trial) -> None:
    """Say where a better value may lie beyond what was tried."""
    for choice, side in trial.edges():
        low, high = (choice.low / 10, choice.high * 10)
        wider = f"{low:.3g},{choice.high:.3g}"
        if side == "upper":
            wider = f"{choice.low:.3g},{high:.3g}"
        label = printable(trial.section.label)
        say(
            f"note: {label}: the best {choice.name}, {choice.value:.4g}, is at the "
            f"{side} edge of its range ({choice.low:.3g} to {choice.high:.3g}); try "
            f"--range {label}.{choice.name}={wider} in another folder"
        )


def _draw(folder: Path, tuned: list[Tuned], cost: str) -> list[Path]:
    from pmgt_mpi.pictures.tuning import plot_tuning

    return [plot_tuning(folder, tuned, cost)]
