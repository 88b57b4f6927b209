"""A run, from the config as asked to its results: read it from top to bottom."""

from __future__ import annotations

from contextlib import ExitStack
from typing import NamedTuple

from pmgt_mpi.config.schema import Config
from pmgt_mpi.execution.algorithm import run_algorithm
from pmgt_mpi.execution.engine import choose_engine
from pmgt_mpi.execution.folder import (
    Output,
    continue_earlier,
    nothing_past,
    open_checkpoints,
    open_folder,
    write_config,
    write_meta,
)
from pmgt_mpi.execution.given import NOTHING_GIVEN, Given
from pmgt_mpi.execution.log import FolderLog, Log
from pmgt_mpi.execution.network import take_places
from pmgt_mpi.execution.setup import Setup, load_rows, make_functions, measure
from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.output.results import Finished
from pmgt_mpi.parameters.resolve import resolve
from pmgt_mpi.watchdog.watchdog import Watchdog


class Ended(NamedTuple):
    """How a run ended.

    Attributes
    ----------
    done
        The algorithms, as far as they ran.
    setup
        What they ran on.
    engine
        What ran the rounds.
    reason
        Why the run was interrupted; None if it came to its end.
    """

    done: list[Finished]
    setup: Setup
    engine: str
    reason: str | None


def run(
    config: Config,
    everyone: Collective,
    watchdog: Watchdog,
    opened: ExitStack,
    *,
    given: Given = NOTHING_GIVEN,
    output: Output | None = None,
) -> Ended:
    """Do what a config asks for; collective.

    Parameters
    ----------
    config
        As asked, the same on all ranks.
    everyone
        All ranks, before they know which agents they are.
    watchdog
        Looks on.
    opened
        Frees the communicators when the caller is done.
    given
        A program's own objects.
    output
        What is to be written; nothing without it.
    """
    engine = choose_engine(everyone, config.run.engine)
    setup = set_up(config, everyone, watchdog, opened, given)
    config = resolve(config, setup, engine)
    log = Log(watchdog)
    if output is not None:
        folder = open_folder(output, config, setup.collective)
        checkpoints = open_checkpoints(folder, setup, engine)
        past = nothing_past()
        if output.resumes:
            past = continue_earlier(output, config, checkpoints)
        write_config(folder, output, config)
        machines = checkpoints.machines
        meta = write_meta(folder, output, config, setup, engine, machines, past)
        log = FolderLog(folder, checkpoints, past, meta, config, setup, watchdog)
    watchdog.begin_algorithms()
    for number in range(len(log.done), len(config.algorithm)):
        section = config.algorithm[number]
        hooks = log.hooks(number, section)
        with log.progress(section, config.steps(section)) as watch:
            done = run_algorithm(
                setup, config, section, engine, watch=watch, tell=log.tell, hooks=hooks
            )
        log.done.append(done)
        hooks.save_end()
        if log.interrupted:
            break
    log.finish(short=len(log.done) < len(config.algorithm))
    return Ended(log.done, setup, engine.name, log.reason)


def set_up(
    config: Config,
    everyone: Collective,
    watchdog: Watchdog | None,
    opened: ExitStack,
    given: Given = NOTHING_GIVEN,
) -> Setup:
    """Do all that comes before the first algorithm; collective."""
    place = take_places(config, given, everyone, opened)
    if watchdog is not None:
        watchdog.learn_agents(place.collective)
    loaded = load_rows(config, given, place.collective)
    problem, psi, x0 = make_functions(config, given, loaded.shard, place.collective)
    return measure(config, place, loaded, problem, psi, x0)
