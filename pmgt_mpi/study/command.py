"""What the study does on every rank."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any, NamedTuple

from pmgt_mpi.config.read import read_config
from pmgt_mpi.config.schema import Config
from pmgt_mpi.config.write import toml_values
from pmgt_mpi.errors import UserError
from pmgt_mpi.execution.command import on_world
from pmgt_mpi.execution.log import try_to_draw
from pmgt_mpi.execution.series import Job, Jobs, Series, resolved
from pmgt_mpi.execution.shared_setup import Ready, SetUps
from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.mpi.world import library
from pmgt_mpi.output.folder import default_path
from pmgt_mpi.output.looking import is_there
from pmgt_mpi.output.meta import circumstances
from pmgt_mpi.output.results import Finished
from pmgt_mpi.output.series import Result, SeriesFolder
from pmgt_mpi.output.study import Group, groups_of
from pmgt_mpi.output.study_tables import (
    FORMATS,
    as_csv,
    as_text,
    runs_csv,
)
from pmgt_mpi.output.table import short
from pmgt_mpi.study.combinations import grid_of, jobs_of, keys_of
from pmgt_mpi.terminal import complain, say, write
from pmgt_mpi.watchdog.signals import INTERRUPTED, Monitor
from pmgt_mpi.watchdog.watchdog import Watchdog

TRACED = (
    "step", "seconds", "gradients", "gradients_paper", "rounds", "messages", "bytes",
    "objective", "suboptimality", "relative_suboptimality", "consensus",
    "gradient_mapping",
)  # fmt: skip
"""Columns of a run's records that are kept, for the pictures."""


class Study(NamedTuple):
    """A study that is asked for, on agent 0.

    Attributes
    ----------
    path, config
        Its folder, and the config as asked.
    asked
        What must stay the same in the folder.
    jobs
        All of its runs.
    """

    path: Path
    config: Config
    asked: dict[str, Any]
    jobs: list[Job]


def study_command(options: argparse.Namespace, monitor: Monitor) -> int:
    """Do a study on the world; return the exit code."""
    return on_world(lambda everyone: _study(options, everyone, monitor), monitor)


def _study(options: argparse.Namespace, everyone: Collective, monitor: Monitor) -> int:
    study: Study | None = None
    folder: SeriesFolder | None = None
    first: tuple[float, Config | None] | None = None
    with everyone.agreed():
        if everyone.agent == 0:
            study = _read(options, everyone.agents)
            fresh = study.jobs[0].config if not is_there(study.path) else None
            first = study.config.run.timeout, fresh
    first = everyone.from_first(first)
    assert first is not None
    timeout, config = first
    watchdog = Watchdog(everyone, monitor, timeout)
    set_ups = SetUps(everyone, watchdog)
    if config is not None:
        resolved(set_ups, config)  # what is refused here leaves no folder
    with everyone.agreed():
        if study is not None:
            folder = _open(study, options)
    series = Series(set_ups, watchdog, _kept)
    if study is None or folder is None:
        signal = series.run(None, None)
    else:
        signal = series.run(_told(study, folder), folder)
        _finish(study, folder, options.format, signal)
    return _exit_code(series, signal, speaks=study is not None)


def _exit_code(series: Series, signal: str | None, *, speaks: bool) -> int:
    if signal is not None:
        return INTERRUPTED
    if not series.refused:
        return 0
    more = len(series.refused) - 1
    also = f" (and {more} more runs were refused)" if more else ""
    error = UserError(f"{series.refused[0]}{also}")
    return complain(error) if speaks else error.exit_code


def _read(options: argparse.Namespace, ranks: int) -> Study:
    """Read the config and list the runs."""
    grid, over = grid_of(options.grid), keys_of(options.over)
    plugins = options.allow_plugins
    config = read_config(options.config, options.set, allow_plugins=plugins)
    jobs = jobs_of(options, grid, over)
    asked = {
        "config": toml_values(config),
        "over": over,
        "grid": grid,
        "streams": options.streams or 0,
        "ranks": ranks,
    }
    path: Path = options.out or default_path(f"{config.run.name}-study")
    return Study(path, config, asked, jobs)


def _open(study: Study, options: argparse.Namespace) -> SeriesFolder:
    """Make the folder, or continue in it."""
    asked = study.asked
    head = {**circumstances(library()), "seeds": options.seeds, "asked": asked}
    folder = SeriesFolder(study.path, "study", head)
    folder.write_toml("asked.toml", toml_values(study.config))
    done = sum(job.key in folder.results for job in study.jobs)
    say(f"study: {len(study.jobs)} runs, {done} of them done; folder: {study.path}")
    return folder


def _told(study: Study, folder: SeriesFolder) -> Jobs:
    """Ask for every run, and say how each has ended that was not done before."""
    known = set(folder.results)
    count = len(study.jobs)
    for number, job in enumerate(study.jobs, 1):
        result = yield job
        if job.key not in known:
            say(f"{number} of {count}: {job.key}: {_ending(result)}")


def _ending(result: Result) -> str:
    if "end" not in result:
        return f"{result['status']}: {result['why']}"
    end = result["end"]
    costs = ", ".join(f"{short(end[name])} {name}" for name in ("gradients", "rounds"))
    return f"{result['status']}, {costs}, {end['seconds']:.3g} s"


def _kept(done: Finished, ready: Ready) -> Result:
    """What is kept of a run: its end, and the columns that pictures show."""
    columns = {
        name: [record.get(name) for record in done.records]
        for name in TRACED
        if name in done.records[0]
    }
    return {
        "status": done.status,
        "setup": ready.fingerprint,
        "engine": ready.engine.name,
        "parameters": done.parameters,
        "notes": done.notes,
        "end": done.records[-1],
        "trace": columns,
    }


def _finish(study: Study, folder: SeriesFolder, shown: str, signal: str | None) -> None:
    """Write the tables of what is done, and print one."""
    keys = [job.key for job in study.jobs]
    results = [folder.results[key] for key in keys if key in folder.results]
    if results:
        groups = groups_of(results, study.asked)
        folder.write_text("table.txt", as_text(groups))
        folder.write_text("table.csv", as_csv(groups))
        folder.write_text("runs.csv", runs_csv(groups))
        if signal is None:
            write("\n" + FORMATS[shown](groups) + "\n")
            try_to_draw(lambda: _draw(folder.path, groups), folder.path)
    folder.close()
    if signal is not None:
        missing = len(study.jobs) - len(results)
        say(
            f"interrupted ({signal}) with {missing} of {len(study.jobs)} runs missing; "
            f"to continue give the same command with --out {folder.path}"
        )
    else:
        say(f"study folder: {folder.path}")


def _draw(folder: Path, groups: list[Group]) -> list[Path]:
    from pmgt_mpi.pictures.bands import plot_study

    return plot_study(folder, groups)
