"""Messages and bytes in the log are those that MPI itself sent, edge by edge."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.support.running import Left, run_config

SHIM = Path(__file__).parent.parent / "support" / "count_messages.c"


def logged(left: Left) -> tuple[Counter, Counter]:
    """Messages and bytes for each (from, to), over all algorithms of a run."""
    messages, nbytes = Counter(), Counter()
    for edge in left.table("edges.csv"):
        ends = int(edge["agent"]), int(edge["neighbour"])
        messages[ends] += int(edge["messages_sent"])
        nbytes[ends] += int(edge["bytes_sent"])
    return messages, nbytes


def test_isend_against_open_mpis_own_monitoring(tmp_path):
    result = run_config(
        tmp_path,
        set=("network.exchange=isend", "network.topology=star"),
        mpirun_args=(
            "--mca", "pml_monitoring_enable", "2",
            "--mca", "pml_monitoring_enable_output", "3",
            "--mca", "pml_monitoring_filename", str(tmp_path / "traffic"),
        ),
        env={"OMPI_MCA_pml": None},
    )  # fmt: skip
    if not list(tmp_path.glob("traffic*")):
        pytest.skip("this MPI has no pml monitoring component (Open MPI has)")
    result.expect(0)
    messages, nbytes = Counter(), Counter()
    # E: messages of the program; those of collectives are listed apart.
    pattern = re.compile(r"^E\t(\d+)\t(\d+)\t(\d+) bytes\t(\d+) msgs sent", re.M)
    for file in tmp_path.glob("traffic*"):
        for source, dest, size, number in pattern.findall(file.read_text()):
            messages[int(source), int(dest)] += int(number)
            nbytes[int(source), int(dest)] += int(size)
    assert len(messages) == 6
    assert (messages, nbytes) == logged(Left(tmp_path / "out"))


@pytest.mark.parametrize("engine", ["python", "compiled"])
@pytest.mark.parametrize("exchange", ["isend", "persistent"])
def test_every_form_against_the_profiling_interface(tmp_path, exchange, engine):
    compiler = shutil.which("cc") or shutil.which("gcc")
    include, libraries = Path(sys.prefix) / "include", Path(sys.prefix) / "lib"
    if compiler is None:
        pytest.skip("no C compiler (cc or gcc) to build the profiling shim")
    if not (include / "mpi.h").exists():
        pytest.skip("no mpi.h in the environment; the wheel of Open MPI has one")
    library = tmp_path / "count_messages.so"
    subprocess.run(
        [
            compiler,
            "-shared",
            "-fPIC",
            "-O2",
            SHIM,
            "-o",
            library,
            f"-I{include}",
            f"-L{libraries}",
            "-lmpi",
            f"-Wl,-rpath,{libraries}",
        ],
        check=True,
        timeout=60,
    )
    run_config(
        tmp_path,
        set=(f"network.exchange={exchange}", f"run.engine={engine}"),
        env={"COUNT_FILE": str(tmp_path / "traffic")},
        mpirun_args=("-x", f"LD_PRELOAD={library}"),
    ).expect(0)
    messages, nbytes = Counter(), Counter()
    for file in tmp_path.glob("traffic.*"):
        for line in file.read_text().splitlines():
            dest, number, size = map(int, line.split())
            ends = int(file.suffix[1:]), dest
            messages[ends], nbytes[ends] = number, size
    assert len(messages) == 8
    assert (messages, nbytes) == logged(Left(tmp_path / "out"))
