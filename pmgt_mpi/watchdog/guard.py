"""What keeps a job from hanging when a rank fails, in the command and in `solve`."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf
from time import monotonic, sleep
from typing import Any

from pmgt_mpi.errors import UserError
from pmgt_mpi.mpi.collective import AgreedError, Collective
from pmgt_mpi.mpi.world import world
from pmgt_mpi.terminal import printable
from pmgt_mpi.watchdog.signals import Monitor
from pmgt_mpi.watchdog.watchdog import Watchdog

TOGETHER = 4.0
"""Seconds within which all ranks come to the same error, if they do."""

PAUSE = 0.005


def end_job(agent: int, error: BaseException) -> None:
    """Tell who failed, and end every rank: the others would wait for ever.

    Those too that are not in the communicator: it is the job that ends, and of other
    ranks the standard promises nothing where that of some is aborted.
    """
    lines = [f"pmgt_mpi: agent {agent} on {platform.node()} failed: "]
    if isinstance(error, UserError):
        lines.append(f"{error}\n")
    elif isinstance(error, MemoryError):
        lines.append(f"not enough memory: {error}; take less data, or more ranks\n")
    else:
        import traceback

        lines.append(f"{type(error).__name__}: {error}\n")
        lines += traceback.format_exception(error)
    message = "".join(lines).split("\n")
    sys.stderr.write("\n".join(map(printable, message)))
    sys.stderr.flush()
    sleep(0.2)  # mpirun drops what it has not read when the job is aborted
    world().Abort(error.exit_code if isinstance(error, UserError) else 1)


@contextmanager
def guarded(comm: Any, timeout: float) -> Iterator[Watchdog]:
    """Watch over work that all ranks of a communicator do together; collective.

    An error that all ranks come to within a few seconds is raised on each of them, and
    the program may catch it. One that some do not come to ends the job, and so does an
    agent for which the others have waited longer than `timeout` seconds.
    """
    collective = Collective(comm.Dup())
    monitor = Monitor(comm.rank, has_launcher=comm.size > 1, signals=False)
    monitor.abort = world().Abort
    watchdog = Watchdog(collective, monitor, timeout)
    monitor.start()
    try:
        yield watchdog
    except AgreedError:
        raise  # all have met where they agreed on it
    except BaseException as error:
        _meet_at_the_end(collective, error)
        raise
    else:
        _meet_at_the_end(collective, None)
    finally:
        monitor.close()
        watchdog.close()
        collective.comm.Free()


def _meet_at_the_end(collective: Collective, error: BaseException | None) -> None:
    """Let all ranks know whether all have come to the end, with an error or without."""
    limit = inf if error is None else monotonic() + TOGETHER
    met = collective.comm.Ibarrier()
    while not met.Test():
        if monotonic() > limit:
            assert error is not None
            end_job(collective.agent, error)
        sleep(PAUSE)
    failed = None if error is None else f"agent {collective.agent} failed: {error!r}"
    failed = collective.first_word(failed)
    if error is None and failed is not None:
        raise AgreedError(failed, exit_code=1)
