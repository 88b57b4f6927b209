"""The command: ``mpirun -n m python -m pmgt_mpi.run --config FILE``."""

from __future__ import annotations

import os
import sys
from math import inf

from pmgt_mpi.command_line import parse
from pmgt_mpi.environment import STARTED, launched, prepare
from pmgt_mpi.errors import UserError
from pmgt_mpi.terminal import command, complain
from pmgt_mpi.watchdog.signals import Monitor, block_signals


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return the exit code."""
    block_signals()
    options = parse(arguments, end_together)
    size, rank = launched()
    deadline = STARTED + (options.max_seconds or inf)
    monitor = Monitor(rank, has_launcher=size > 1, deadline=deadline)
    monitor.start()
    prepare()
    try:  # only now: numpy and MPI look at the environment when they are imported
        from pmgt_mpi.execution.command import run_command
    except UserError as error:  # there is no MPI, in which all could agree on it
        monitor.close()
        return complain(error) if rank == 0 else error.exit_code

    # The folder in which the user stands holds the user's own modules.
    if options.allow_plugins and os.getcwd() not in sys.path:  # noqa: PTH109
        sys.path.insert(0, os.getcwd())  # noqa: PTH109
    code = run_command(options, monitor)
    monitor.close()
    return end_together(code)


def end_together(code: int) -> int:
    """End all ranks, which have the same exit code; return that of this one."""
    prepare()
    from pmgt_mpi.mpi.ending import leave

    return leave(code)


if __name__ == "__main__":
    command(main)
