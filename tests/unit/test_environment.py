"""The environment of a rank: set early, the user's word first, crowding told."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
import threadpoolctl

from pmgt_mpi import environment
from pmgt_mpi.environment import (
    BLAS_THREADS,
    HEAVY_YIELD,
    LAUNCHERS,
    RANKS_HERE,
    crowding,
    launched,
    one_blas_thread,
    prepare,
    sleep_if_crowded,
    usable_cores,
)
from pmgt_mpi.execution.command import check_world
from pmgt_mpi.mpi.collective import AgreedError
from pmgt_mpi.mpi.world import place

YIELD = "OMPI_MCA_mpi_yield_when_idle"
INTEL_YIELD = "I_MPI_THREAD_YIELD"
NO_PLUGINS = "PYDANTIC_DISABLE_PLUGINS"


@pytest.fixture(autouse=True)
def bare(monkeypatch):
    """No launcher, no BLAS threads; whatever a test sets is taken back."""
    launchers = (name for pair in LAUNCHERS for name in pair)
    settings = (HEAVY_YIELD, YIELD, INTEL_YIELD, NO_PLUGINS, RANKS_HERE)
    for name in (*BLAS_THREADS, *settings, *launchers):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)


def test_prepare_sets_one_thread_and_yielding_and_no_plugins():
    prepare()
    assert [os.environ[name] for name in BLAS_THREADS] == ["1", "1", "1"]
    assert os.environ[YIELD] == "1"
    assert os.environ[INTEL_YIELD] == "2"
    assert os.environ[NO_PLUGINS] == "__all__"


def test_a_number_of_threads_that_is_empty_is_none(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "")
    prepare()
    assert os.environ["OMP_NUM_THREADS"] == "1"


def test_prepare_leaves_what_the_user_has_set(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    monkeypatch.setenv(YIELD, "0")
    monkeypatch.setenv(INTEL_YIELD, "0")
    prepare()
    assert os.environ["OMP_NUM_THREADS"] == "4"
    assert os.environ["MKL_NUM_THREADS"] == "1"
    assert os.environ[YIELD] == "0"
    assert os.environ[INTEL_YIELD] == "0"


def test_neither_numpy_nor_mpi_is_imported_before_the_environment_is_set():
    program = (
        "import sys, pmgt_mpi.run; "
        "sys.exit(len({'numpy', 'mpi4py', 'scipy', 'pydantic'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


@pytest.mark.parametrize(("size", "rank"), LAUNCHERS)
def test_launched_by(monkeypatch, size, rank):
    assert launched() == (1, 0)
    monkeypatch.setenv(size, "4")
    assert launched() == (4, 0)
    monkeypatch.setenv(rank, "3")
    assert launched() == (4, 3)
    monkeypatch.setenv(size, "many")
    assert launched() == (1, 0)


@pytest.mark.parametrize("number", ["9" * 5000, "²", "", " 4", "-1", "0", "4x", "4.0"])
@pytest.mark.parametrize(("size", "rank"), LAUNCHERS)
def test_numbers_that_no_launcher_writes_are_not_read(monkeypatch, size, rank, number):
    monkeypatch.setenv(size, number)
    assert launched() == (1, 0)
    monkeypatch.setenv(rank, "3")
    assert launched() == (1, 0)
    monkeypatch.setenv(size, "4")
    monkeypatch.setenv(rank, number)
    assert launched() == (4, 0)


@pytest.mark.parametrize(("size", "rank"), LAUNCHERS)
def test_a_rank_beyond_the_size_is_no_launcher_s(monkeypatch, size, rank):
    monkeypatch.setenv(size, "4")
    monkeypatch.setenv(rank, "4")
    assert launched() == (1, 0)
    monkeypatch.setenv("SLURM_NTASKS", "8")
    monkeypatch.setenv("SLURM_PROCID", "7")
    assert launched() == (8, 7)


def test_mpirun_inside_a_batch_job_counts_before_the_batch_job(monkeypatch):
    monkeypatch.setenv("SLURM_NTASKS", "32")
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "4")
    monkeypatch.setenv("OMPI_COMM_WORLD_RANK", "2")
    assert launched() == (4, 2)


def test_a_world_of_one_is_refused_only_where_more_were_started(monkeypatch):
    check_world(1)
    check_world(4)
    monkeypatch.setenv("PMI_SIZE", "4")
    check_world(4)
    with pytest.raises(AgreedError, match=r"^the launcher started 4 ranks, but MPI "):
        check_world(1)


def places(*hosts):
    return [(host, frozenset(cores)) for host, cores in hosts]


def test_nothing_is_said_where_there_is_room():
    assert crowding(places(("a", {0, 1}), ("a", {0, 1}), ("b", {0}))) is None
    assert crowding([]) is None


def test_ranks_bound_to_a_core_each_are_not_crowded():
    assert crowding(places(*(("a", {core}) for core in range(8)))) is None


@pytest.mark.parametrize(
    ("hosts", "threads", "text"),
    [
        (
            [("a", {0, 1})] * 3,
            {},
            "3 ranks share 2 cores on a; seconds will be longer than with a core for "
            "each",
        ),
        (
            [("a", {0, 1}), ("b", {5}), ("b", {5})],
            {},
            "2 ranks share 1 core on b; seconds will be longer than with a core for "
            "each",
        ),
        (
            [("a", {0, 1, 2})] * 2,
            {"OMP_NUM_THREADS": "2"},
            "2 ranks with 2 BLAS threads each share 3 cores on a; set "
            "OMP_NUM_THREADS=1",
        ),
        (
            [("a", {0, 1})] * 2,
            {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "16"},
            "2 ranks with 16 BLAS threads each share 2 cores on a; set "
            "MKL_NUM_THREADS=1",
        ),
        (
            [("a", {0})] * 2,
            {"OPENBLAS_NUM_THREADS": "3"},
            "2 ranks with 3 BLAS threads each share 1 core on a; seconds will be "
            "longer than with a core for each",
        ),
    ],
)
def test_crowding_is_told(monkeypatch, hosts, threads, text):
    for name, value in threads.items():
        monkeypatch.setenv(name, value)
    assert crowding(places(*hosts)) == text


@pytest.mark.parametrize("value", ["many", "²", "9" * 5000, "0", "", ",2", "-4"])
def test_threads_that_are_no_number_count_as_one(monkeypatch, value):
    monkeypatch.setenv("OMP_NUM_THREADS", value)
    assert crowding(places(("a", {0}))) is None


@pytest.mark.parametrize("value", ["2,4", " 2 , 4", "2"])
def test_of_nested_threads_the_outer_ones_count(monkeypatch, value):
    monkeypatch.setenv("OMP_NUM_THREADS", value)
    assert crowding(places(("a", {0, 1}))) is None
    told = crowding(places(("a", {0})))
    assert told is not None
    assert "1 rank with 2 BLAS threads shares 1 core on a; set OMP_NUM" in told


@pytest.mark.parametrize(
    ("vendor", "version", "heavy", "text"),
    [
        ("MPICH", (5, 0, 2), None, None),
        ("Open MPI", (4, 1, 4), None, None),
        ("Intel MPI", (2021, 18, 1), None, None),
        ("MPICH", (4, 3, 2), "1", None),
        ("MPICH", (4, 0, 2), "1", "use Open MPI or MPICH 5"),
        ("MPICH", (4, 0, 2), None, "use Open MPI or MPICH 5"),
        ("MPICH", (3, 4, 3), None, "use Open MPI or MPICH 5"),
        ("MPICH", (4, 1, 0), None, "set MPIR_CVAR_ENABLE_HEAVY_YIELD=1"),
        ("MPICH", (4, 3, 2), "0", "set MPIR_CVAR_ENABLE_HEAVY_YIELD=1"),
    ],
)
def test_an_mpi_that_keeps_the_core_is_told(monkeypatch, vendor, version, heavy, text):
    if heavy is not None:
        monkeypatch.setenv(HEAVY_YIELD, heavy)
    crowded = places(("a", {0}), ("a", {0}))
    plain, told = crowding(crowded), crowding(crowded, (vendor, version))
    assert crowding(places(("a", {0})), (vendor, version)) is None
    if text is None:
        assert told == plain
    else:
        number = ".".join(map(str, version[:2]))
        begin = f"2 ranks share 1 core on a, and {vendor} {number} keeps a core while"
        assert told is not None
        assert told.startswith(begin)
        assert text in told


MANY = str((os.cpu_count() or 1) + 1)


@pytest.mark.parametrize(
    ("vendor", "version", "ranks", "before", "after"),
    [
        ("MPICH", (4, 3, 2), MANY, None, "1"),
        ("MPICH", (4, 1, 0), MANY, None, "1"),
        ("MPICH", (4, 3, 2), MANY, "0", "0"),
        ("MPICH", (4, 3, 2), "1", None, None),
        ("MPICH", (4, 3, 2), None, None, None),
        ("MPICH", (4, 0, 2), MANY, None, None),
        ("MPICH", (5, 0, 2), MANY, None, None),
        ("Intel MPI", (2021, 18, 1), MANY, None, None),
        ("Open MPI", (5, 0, 11), MANY, None, None),
    ],
)
def test_an_mpi_that_keeps_the_core_sleeps_where_cores_are_too_few(
    monkeypatch, vendor, version, ranks, before, after
):
    for name, value in ((RANKS_HERE, ranks), (HEAVY_YIELD, before)):
        if value is not None:
            monkeypatch.setenv(name, value)
    sleep_if_crowded(vendor, version)
    assert os.environ.get(HEAVY_YIELD) == after


def test_the_cores_of_this_process():
    assert usable_cores() == os.sched_getaffinity(0)
    assert place() == (os.uname().nodename, usable_cores())
    assert environment.usable_cores()


def blas_threads() -> list[int]:
    found = threadpoolctl.threadpool_info()
    return [one["num_threads"] for one in found if one["user_api"] == "blas"]


@pytest.mark.parametrize("said", [None, "2"])
def test_blas_has_one_thread_in_a_program_that_has_not_said_otherwise(
    monkeypatch, said
):
    for name in environment.BLAS_THREADS:
        monkeypatch.delenv(name, raising=False)
    if said is not None:
        monkeypatch.setenv("OMP_NUM_THREADS", said)
    np.ones((2, 2)) @ np.ones((2, 2))
    with threadpoolctl.threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        with one_blas_thread():
            inside = blas_threads()
        assert blas_threads() == before
    assert before
    assert inside == (before if said else [1] * len(before))
