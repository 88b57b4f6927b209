"""What the run command does on every rank: its config, and how it ends."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from time import monotonic

from pmgt_mpi.config.schema import Config
from pmgt_mpi.environment import launched
from pmgt_mpi.execution.folder import Output
from pmgt_mpi.execution.run import run
from pmgt_mpi.mpi.collective import AgreedError, Collective
from pmgt_mpi.mpi.world import world as all_ranks
from pmgt_mpi.terminal import complain
from pmgt_mpi.watchdog.guard import end_job
from pmgt_mpi.watchdog.signals import INTERRUPTED, Monitor
from pmgt_mpi.watchdog.watchdog import Watchdog

DIVERGED = 3
"""Exit code if an algorithm diverged."""


def run_command(options: argparse.Namespace, monitor: Monitor) -> int:
    """Run a config on the world; return the exit code."""
    return on_world(lambda everyone: _run(options, everyone, monitor), monitor)


def on_world(work: Callable[[Collective], int], monitor: Monitor) -> int:
    """Do a command's work on all ranks together; return the exit code.

    Wrong input that all ranks have agreed on is told once, by the first. Anything else
    that goes wrong on one rank ends the job on all of them: the others would wait for
    its messages for ever.
    """
    world = all_ranks()
    monitor.abort = world.Abort
    try:
        check_world(world.size)
        return work(Collective(world))
    except AgreedError as error:
        if world.rank == 0 and launched()[1] == 0:
            complain(error)
        return error.exit_code
    except BaseException as error:
        end_job(monitor.agent, error)
        raise


def check_world(size: int) -> None:
    """Refuse a world of 1 where the launcher started more: it is n jobs of size 1."""
    asked, _ = launched()
    if size == 1 and asked > 1:
        raise AgreedError(
            f"the launcher started {asked} ranks, but MPI sees a world of size 1: "
            "mpirun and mpi4py belong to different MPIs, or the program was started "
            "without mpirun or srun --mpi=pmix; use the mpirun of the environment in "
            "which mpi4py is installed"
        )


def _run(options: argparse.Namespace, everyone: Collective, monitor: Monitor) -> int:
    agreed: tuple[Config, Output, int | None] | None = None
    mine: Output | None = None
    with everyone.agreed():
        if everyone.agent == 0:
            config, mine, exit_code = read(options, everyone.agents)
            agreed = config, mine._replace(asked=None, earlier=None), exit_code
    agreed = everyone.from_first(agreed)
    assert agreed is not None
    config, output, exit_code = agreed
    if exit_code is not None:
        return exit_code
    watchdog = Watchdog(everyone, monitor, config.run.timeout)
    ended = run(config, everyone, watchdog, ExitStack(), output=mine or output)
    if ended.reason is not None:
        return INTERRUPTED
    return DIVERGED if any(one.status == "diverged" for one in ended.done) else 0


def read(options: argparse.Namespace, ranks: int) -> tuple[Config, Output, int | None]:
    """Read the config, and see whether there is a run to resume; on rank 0.

    The folder of an earlier run is locked and held against the config before any data
    are read.

    Returns
    -------
    tuple
        The config to run with, what is to be written, and the exit code if there is
        nothing to do.
    """
    from pmgt_mpi.config.compare import with_numbers
    from pmgt_mpi.config.read import read_config

    path: Path | None = options.config
    if path is None:
        from pmgt_mpi.checkpoints.earlier import config_in, named_folder

        path = config_in(named_folder(options.resume))
    plugins = options.allow_plugins
    config = asked = read_config(path, options.set, allow_plugins=plugins)
    output = Output(
        path=options.out,
        config_path=path,
        started=monotonic(),
        resumes=False,
        asked=asked,
        earlier=None,
    )
    exit_code = None
    if options.resume is not None:
        from pmgt_mpi.checkpoints import earlier

        folder = earlier.folder_of(options.resume, options.out, config.run.name)
        if folder is not None:
            before = earlier.open_earlier(folder, allow_plugins=plugins)
            output = output._replace(resumes=True, earlier=before)
            if before.resolved is not None:
                earlier.check_same(before, config, ranks)
                exit_code = earlier.exit_code_of_ended(before, config, DIVERGED)
                config = with_numbers(config, before.resolved)
    return config, output, exit_code
