"""Job scripts: from an installed wheel, and run to the end without a scheduler."""

from __future__ import annotations

import os
import shutil
import signal
import sys

import pytest

from tests.launcher import ROOT, SINGLE_MACHINE, current_test, run, start, started_by
from tests.support.resuming import LONG, checkpoint_number, environment, wait_for
from tests.support.running import SMALL, Left

NO_INDEX = ("No matching distribution", "Failed to establish", "Network is unreachable")


def test_a_wheel_carries_the_scripts(tmp_path):
    source = tmp_path / "source"
    ignored = shutil.ignore_patterns(".*", "runs", "__pycache__", "tests", "docs")
    shutil.copytree(ROOT, source, ignore=ignored)
    install = [sys.executable, "-m", "pip", "install", "--no-deps", "--quiet"]
    made = run([*install, "--target", str(tmp_path / "site"), str(source)], timeout=200)
    if any(reason in made.stderr for reason in NO_INDEX):
        pytest.skip("pip cannot reach an index of packages")
    made.expect(0)
    shutil.rmtree(source)
    (tmp_path / "c.toml").write_text(SMALL)
    env = {"PYTHONPATH": str(tmp_path / "site")}
    where = [sys.executable, "-c", "import pmgt_mpi; print(pmgt_mpi.__file__)"]
    found = run(where, cwd=tmp_path, env=env).expect(0).stdout
    assert found.startswith(str(tmp_path / "site")), "the wheel, not this checkout"
    for kind, name in [
        ("slurm", "slurm.sbatch"),
        ("pbs", "pbs.sh"),
        ("lsf", "lsf.sh"),
        ("hosts", "hosts.sh"),
        ("kubernetes", "kubernetes/mpijob.yaml"),
    ]:
        packed = tmp_path / "site" / "pmgt_mpi" / "launch" / "scripts" / name
        assert packed.read_text() == (ROOT / "launch" / name).read_text()
        command = [sys.executable, "-m", "pmgt_mpi.launch", kind, "--ranks", "5"]
        command += ["--config", "c.toml", "--hostfile", "h", "--dry-run"]
        printed = run(command, cwd=tmp_path, env=env).expect(0)
        assert "5" in printed.stdout
        assert "pmgt_mpi.run" in printed.stdout


def written(folder, kind, *arguments, text=SMALL, ranks=2):
    """Fill in a script in a folder that holds a config."""
    (folder / "config.toml").write_text(text)
    (folder / "hosts").write_text("localhost slots=4\n")
    command = [sys.executable, "-m", "pmgt_mpi.launch", kind, "--ranks", str(ranks)]
    command += ["--config", "config.toml", "--hostfile", "hosts", *arguments]
    run(command, cwd=folder).expect(0)
    started_by.add(current_test())
    return ["bash", "small.sh"]


def test_hosts_sh_runs_stops_at_a_signal_and_continues(tmp_path):
    script = written(tmp_path, "hosts", "--out", "out", text=LONG)
    env = {**SINGLE_MACHINE, **environment(tmp_path)}
    with start(script, cwd=tmp_path, env=env) as job:
        wait_for(job, lambda: checkpoint_number(tmp_path) >= 2)
        job.signal(signal.SIGTERM)
        job.wait(20).expect(75)
    assert Left(tmp_path / "out").summary[-1]["status"] == "interrupted"
    again = run(script, cwd=tmp_path, env=env).expect(0)
    assert "resuming out from checkpoint" in again.stdout
    assert {one["status"] for one in Left(tmp_path / "out").summary} == {"budget"}


def test_pbs_sh_stops_before_its_time_and_submits_itself_again(tmp_path):
    more = ["--", "--set", "stop.steps=100000", "--set", "evaluate.every=1000"]
    script = written(tmp_path, "pbs", "--time", "00:00:06", *more, text=LONG)
    queue = tmp_path / "bin" / "qsub"
    queue.parent.mkdir()
    queue.write_text('#!/bin/sh\necho "$@; $PMGT_OUT; $PMGT_RESTARTS" >> queue\n')
    queue.chmod(0o755)
    env = {
        **SINGLE_MACHINE,
        **environment(tmp_path),
        "PATH": f"{queue.parent}:{os.environ['PATH']}",
        "PBS_O_WORKDIR": str(tmp_path),
        "PBS_NODEFILE": str(tmp_path / "hosts"),
        "PBS_JOBID": "7.server",
    }
    run(script, cwd=tmp_path, env=env).expect(75)
    line = (tmp_path / "queue").read_text()
    assert line == "-V small.sh; runs/pmgt_mpi-7.server; 1\n"
    left = Left(tmp_path / "runs" / "pmgt_mpi-7.server")
    assert left.summary[-1]["status"] == "interrupted"
