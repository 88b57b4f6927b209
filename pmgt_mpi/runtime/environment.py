"""The process's environment: set before numpy and MPI are imported.

This module imports neither.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from time import monotonic

STARTED = monotonic()
"""When this process began, or nearly: from here --max-seconds is counted."""

BLAS_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

LAUNCHERS = (
    ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
    ("PMI_SIZE", "PMI_RANK"),
    ("SLURM_NTASKS", "SLURM_PROCID"),
)
"""Variables in which launchers tell a process how many there are and which it is."""


def prepare() -> None:
    """Set what every rank wants, where the user has not said otherwise.

    One BLAS thread a rank: the ranks are the parallelism. Yielding while MPI waits:
    with more ranks than cores a round is a thousand times slower without it, and it
    costs a tenth with two ranks on two cores. No plugins for the library that checks
    the config: it would look through all packages for them while every rank waits.
    """
    for name in BLAS_THREADS:
        os.environ.setdefault(name, "1")
    os.environ.setdefault("OMPI_MCA_mpi_yield_when_idle", "1")
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")


def launched() -> tuple[int, int]:
    """Size and rank of this process as the launcher tells them; (1, 0) without one."""
    for size, rank in LAUNCHERS:
        if os.environ.get(size, "").isdigit():
            return int(os.environ[size]), int(os.environ.get(rank, "0") or 0)
    return 1, 0


def crowding(places: Iterable[tuple[str, frozenset[int]]]) -> str | None:
    """Say on which host ranks times BLAS threads exceed the cores, if on any.

    Parameters
    ----------
    places
        For every rank its host and the cores that it may use there. A launcher may
        bind ranks to different cores: what counts is all of theirs together.
    """
    on_host: dict[str, list[frozenset[int]]] = {}
    for host, own in places:
        on_host.setdefault(host, []).append(own)
    setting = max(BLAS_THREADS, key=_threads)
    threads = _threads(setting)
    for host, sets in on_host.items():
        ranks, cores = len(sets), len(frozenset().union(*sets))
        if ranks * threads > cores:
            many = "" if threads == 1 else f" with {threads} BLAS threads each"
            remedy = (
                f"set {setting}=1"
                if threads > 1 and ranks <= cores
                else "seconds will be longer than with a core for each"
            )
            plural = "core" if cores == 1 else "cores"
            return f"{ranks} ranks{many} share {cores} {plural} on {host}; {remedy}"
    return None


def usable_cores() -> frozenset[int]:
    """Numbers of the cores that this process may use."""
    return frozenset(os.sched_getaffinity(0))


def _threads(variable: str) -> int:
    value = os.environ.get(variable, "1")
    return int(value) if value.isdigit() else 1
