"""The process's environment: set before numpy and MPI are imported.

This module imports neither.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from time import monotonic

STARTED = monotonic()
"""When this process began, or nearly: from here --max-seconds is counted."""

BLAS_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

HEAVY_YIELD = "MPIR_CVAR_ENABLE_HEAVY_YIELD"
"""Lets MPICH (4.1 and later) sleep while it waits, where others are to run."""

RANKS_HERE = "MPI_LOCALNRANKS"
"""In which MPICH's launcher tells a rank how many there are on its host."""

LAUNCHERS = (
    ("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"),
    ("PMI_SIZE", "PMI_RANK"),
    ("SLURM_NTASKS", "SLURM_PROCID"),
)
"""Variables in which launchers tell a process how many there are and which it is."""


def prepare() -> None:
    """Set what every rank wants, where the user has not said otherwise.

    One BLAS thread a rank: the ranks are the parallelism. Yielding while MPI waits
    (Open MPI, Intel MPI): with more ranks than cores a round is a hundred or a thousand
    times slower without it, and it costs at most a tenth with two ranks on two cores.
    No plugins for the library that checks the config: it would look through all
    packages for them while every rank waits.
    """
    for name in BLAS_THREADS:
        if not os.environ.get(name):  # to OpenBLAS nothing is all cores
            os.environ[name] = "1"
    os.environ.setdefault("OMPI_MCA_mpi_yield_when_idle", "1")
    os.environ.setdefault("I_MPI_THREAD_YIELD", "2")  # by sched_yield
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")


def sleep_if_crowded(vendor: str, version: tuple[int, ...]) -> None:
    """Let an MPI that can yield in no other way sleep, where it surely has to.

    To be called when the MPI is known and not yet started. That there are more ranks
    here than cores in the whole machine is all that is known now: a rank that may use
    one core may have it for itself. MPICH 5 yields.
    """
    ranks = _number(os.environ.get(RANKS_HERE, "")) or 0
    if _sleeps(vendor, version) and ranks > (os.cpu_count() or 1):
        os.environ.setdefault(HEAVY_YIELD, "1")


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let BLAS use one thread meanwhile, where the user has not said otherwise.

    For programs that have loaded numpy already: what `prepare` sets comes too late.
    """
    if any(os.environ.get(name) for name in BLAS_THREADS):
        yield
        return
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, user_api="blas"):
        yield


def launched() -> tuple[int, int]:
    """Size and rank of this process as the launcher tells them; (1, 0) without one."""
    for size, rank in LAUNCHERS:
        ranks = _number(os.environ.get(size, ""))
        own = _number(os.environ.get(rank, "")) or 0
        if ranks is not None and own < ranks:
            return ranks, own
    return 1, 0


def crowding(
    places: Iterable[tuple[str, frozenset[int]]],
    mpi: tuple[str, tuple[int, ...]] = ("", ()),
) -> str | None:
    """Say on which host ranks times BLAS threads exceed the cores, if on any.

    Parameters
    ----------
    places
        For every rank its host and the cores that it may use there. A launcher may
        bind ranks to different cores: what counts is all of theirs together.
    mpi
        Name and version of the MPI library.
    """
    on_host: dict[str, list[frozenset[int]]] = {}
    for host, own in places:
        on_host.setdefault(host, []).append(own)
    setting = max(BLAS_THREADS, key=_threads)
    threads = _threads(setting)
    for host, sets in on_host.items():
        ranks, cores = len(sets), len(frozenset().union(*sets))
        if ranks * threads > cores:
            who, verb, each = f"{ranks} ranks", "share", " each"
            if ranks == 1:
                who, verb, each = "1 rank", "shares", ""
            if threads > 1:
                who += f" with {threads} BLAS threads{each}"
            if ranks <= cores:
                remedy = f"; set {setting}=1"
            else:
                remedy = _of_mpi(*mpi) or (
                    "; seconds will be longer than with a core for each"
                )
            plural = "core" if cores == 1 else "cores"
            return f"{who} {verb} {cores} {plural} on {host}{remedy}"
    return None


def _of_mpi(vendor: str, version: tuple[int, ...]) -> str:
    """What to do about an MPI that keeps the core while it waits, if it does.

    The rank that is waited for may need that core; then every wait takes a time slice
    of the system. The compiled rounds let others run themselves.
    """
    if vendor != "MPICH" or version >= (5,):
        return ""
    remedy = "use Open MPI or MPICH 5"
    if _sleeps(vendor, version):
        if os.environ.get(HEAVY_YIELD, "0") != "0":
            return ""
        remedy = f"set {HEAVY_YIELD}=1, or {remedy}"
    return (
        f", and {vendor} {version[0]}.{version[1]} keeps a core while it waits: every "
        f"evaluation, and every round of the engine 'python', takes milliseconds; "
        f"{remedy}"
    )


def _sleeps(vendor: str, version: tuple[int, ...]) -> bool:
    """Whether this MPI keeps the core while it waits, and can be told to sleep."""
    return vendor == "MPICH" and (4, 1) <= version < (5,)


def usable_cores() -> frozenset[int]:
    """Numbers of the cores that this process may use."""
    return frozenset(os.sched_getaffinity(0))


def _threads(variable: str) -> int:
    """Threads that a variable asks for; of nested ones the first number, the outer."""
    outer, _, _ = os.environ.get(variable, "1").partition(",")
    return _number(outer.strip()) or 1


def _number(text: str) -> int | None:
    """A positive number, or zero, as launchers and users write it; else None."""
    return int(text) if re.fullmatch("[0-9]{1,9}", text) else None
