"""How a command starts on every rank of a job, and how they end together."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from math import inf

from pmgt_mpi.environment import STARTED, launched, prepare
from pmgt_mpi.errors import UserError
from pmgt_mpi.terminal import complain
from pmgt_mpi.watchdog.signals import Monitor, block_signals

Work = Callable[[argparse.Namespace, Monitor], int]


def enter(
    parse: Callable[..., argparse.Namespace],
    load: Callable[[], Work],
    arguments: list[str] | None,
) -> int:
    """Start a command on every rank of a job, and end them together.

    Parameters
    ----------
    parse
        Reads the command line: of `arguments`, and with what ends all ranks.
    load
        Imports numpy, MPI and what does the work, and returns that.
    """
    block_signals()
    options = parse(arguments, end_together)
    size, rank = launched()
    deadline = STARTED + (getattr(options, "max_seconds", None) or inf)
    monitor = Monitor(rank, has_launcher=size > 1, deadline=deadline)
    monitor.start()
    prepare()
    try:  # only now: numpy and MPI look at the environment when they are imported
        work = load()
    except UserError as error:  # there is no MPI, in which all could agree on it
        monitor.close()
        return complain(error) if rank == 0 else error.exit_code
    # The folder in which the user stands holds the user's own modules.
    if options.allow_plugins and os.getcwd() not in sys.path:  # noqa: PTH109
        sys.path.insert(0, os.getcwd())  # noqa: PTH109
    code = work(options, monitor)
    monitor.close()
    return end_together(code)


def end_together(code: int) -> int:
    """End all ranks, which have the same exit code; return that of this one."""
    prepare()
    from pmgt_mpi.mpi.ending import leave

    return leave(code)
