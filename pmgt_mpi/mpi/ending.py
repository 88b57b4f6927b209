"""How all ranks end when they have agreed to."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from time import monotonic, sleep

PATIENCE = 2.0
"""Seconds that rank 0 waits for the others to be gone."""

PAUSE = 0.01


def leave(code: int) -> int:
    """Return the exit code of this rank, where all have the same one; collective.

    A launcher that sees a rank fail while others are there says so in ten lines of its
    own, below the one sentence of ours. So rank 0 alone ends with the code, last.
    """
    from pmgt_mpi.mpi.library import MPI

    world = MPI.COMM_WORLD
    processes = world.gather((platform.node(), os.getpid()), root=0)
    MPI.Finalize()
    if processes is None:
        return 0
    if code:
        here = platform.node()
        others = {pid for host, pid in processes if host == here} - {os.getpid()}
        vendor, version = MPI.get_vendor()
        reaps = vendor == "Open MPI" and version >= (5,)  # others before the job's end
        end = monotonic() + PATIENCE
        while any(_is_there(pid, reaps) for pid in others) and monotonic() < end:
            sleep(PAUSE)
    return code


def _is_there(pid: int, reaps: bool) -> bool:
    """Whether a process of this user is there, or its launcher is yet to reap it."""
    try:
        os.kill(pid, 0)
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return reaps or stat.rpartition(")")[2].split()[0] != "Z"
