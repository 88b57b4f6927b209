"""Runs that are killed and gone on with: nothing lost, and nothing else taken up."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tomllib

import numpy as np
import pytest

from pmgt_mpi.runtime.manifest import Manifest
from tests.launcher import start_mpirun
from tests.support.resuming import (
    LONG,
    arguments,
    assert_same,
    begin,
    checkpoint_number,
    environment,
    manifests,
    ranks_of,
    resume,
    wait_for,
)
from tests.support.running import SMALL, Left, run_config


def complaint(result) -> str:
    """Give the one message of a job that was refused."""
    result.expect(2)
    assert "Traceback" not in result.stdout + result.stderr
    (line,) = [s for s in result.stderr.splitlines() if "pmgt_mpi: error: " in s]
    return line.removeprefix("pmgt_mpi: error: ")


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """A run of which one rank was killed, well after its first checkpoint."""
    folder = tmp_path_factory.mktemp("killed")
    with begin(folder) as job:
        wait_for(job, lambda: checkpoint_number(folder) >= 11)
        os.kill(ranks_of(job)[2], signal.SIGKILL)
        result = job.wait(10)
    assert result.returncode != 0
    assert not result.survivors
    assert not (folder / "out" / "summary.json").exists()
    return folder


@pytest.fixture
def broken(killed, tmp_path):
    """A copy of the killed run, to do with as one likes."""
    shutil.copytree(killed, tmp_path, dirs_exist_ok=True)
    return tmp_path


def test_a_killed_run_goes_on_and_ends_with_the_same_bits(whole, broken):
    result = resume(broken).expect(0)
    assert "going on with out from checkpoint" in result.stdout
    assert_same(whole, broken / "out")
    meta = Left(broken / "out").meta
    assert len(meta["resumed"]) == 1
    assert len(manifests(broken)) == 2

    again = resume(broken).expect(0)
    assert "finished already, nothing to do" in again.stdout
    assert_same(whole, broken / "out")


def test_a_damaged_checkpoint_is_passed_over_with_a_warning(whole, broken):
    newest = manifests(broken)[-1].parent
    path = newest / "agent-3.state"
    path.write_bytes(path.read_bytes()[:-100])
    result = resume(broken).expect(0)
    assert f"warning: checkpoint {newest.name} is damaged and is not used" in (
        result.stdout
    )
    assert_same(whole, broken / "out")


def test_another_processor_or_blas_is_told_and_the_run_goes_on(whole, broken):
    for path in manifests(broken):
        manifest = Manifest.read(path.parent)
        machines = [dict(one) for one in manifest.machines]
        machines[2] |= {"CPU": "Z80", "BLAS": "slow 0.1"}
        manifest._replace(machines=machines).write(path.parent)
    said = resume(broken).expect(0).stdout
    assert re.search(
        r"warning: CPU is .+, and was Z80; BLAS is .+, and was slow 0.1", said
    )
    assert_same(whole, broken / "out")


def test_if_no_checkpoint_is_whole_nothing_is_overwritten(broken):
    for manifest in manifests(broken):
        content = bytearray(manifest.read_bytes())
        content[len(content) // 2] ^= 1
        manifest.write_bytes(content)
    before = (broken / "out" / "metrics.jsonl").read_bytes()
    assert "no checkpoint of" in complaint(resume(broken))
    assert (broken / "out" / "metrics.jsonl").read_bytes() == before


def test_a_longer_budget_goes_on_as_if_it_had_been_so_from_the_start(tmp_path):
    head, *sections = LONG.split("[[algorithm]]")
    text = head + "[[algorithm]]" + sections[0]
    first = ("--set", "stop.steps=45", "--set", "evaluate.every=5")
    with begin(tmp_path, *first, text=text) as job:
        job.wait(30).expect(0)
    resume(tmp_path, "--set", "stop.steps=70").expect(0)
    other = tmp_path / "other"
    other.mkdir()
    run_config(
        other, text, set=("stop.steps=70", "evaluate.every=5", "checkpoint.steps=0")
    ).expect(0)
    assert_same(other / "out", tmp_path / "out")


@pytest.mark.parametrize(
    ("assignment", "told"),
    [
        ("network.topology=complete", "[network] topology is 'complete', and was"),
        ("data.rows=601", "[data] rows is 601, and was 600"),
        ("algorithm.1.batch_size=3", "pmgt-svrg: batch_size is 3, and was 'sqrt'"),
    ],
)
def test_another_run_is_not_taken_up(killed, assignment, told):
    message = complaint(resume(killed, "--set", assignment))
    assert message.startswith("cannot go on with out: ")
    assert told in message


def test_another_engine_is_not_taken_up(killed):
    config = tomllib.loads((killed / "out" / "config.toml").read_text())
    if config["run"]["engine"] != "compiled":
        pytest.skip("no compiled engine here: there is no C compiler")
    message = complaint(resume(killed, "--set", "run.engine=python"))
    assert "the engine is python, and was compiled" in message


def test_another_number_of_ranks_is_not_taken_up(killed):
    told = "the number of ranks is 3, and was 4"
    assert told in complaint(resume(killed, ranks=3))


def test_other_data_in_the_same_file_are_not_taken_up(tmp_path):
    A = np.random.default_rng(0).choice([-1.0, 1.0], size=(600, 8))
    np.save(tmp_path / "rows.npy", A)
    text = SMALL.replace("rows = 600\ncolumns = 8\n", 'path = "rows.npy"\n')
    text = text.replace('source = "bernoulli"', 'source = "npy"')
    run_config(tmp_path, text, set=("checkpoint.steps=5",)).expect(0)
    A[444, 3] *= -1
    np.save(tmp_path / "rows.npy", A)
    message = complaint(resume(tmp_path, "--set", "stop.steps=30"))
    assert "the data of agent 2 differ from what they were" in message


def test_a_second_run_in_the_folder_is_refused(broken):
    args = arguments("--resume", "out", "--set", "stop.steps=1000000")
    number = checkpoint_number(broken)
    with start_mpirun(4, args, cwd=broken, env=environment(broken)) as job:
        wait_for(job, lambda: checkpoint_number(broken) > number)
        message = complaint(resume(broken))
        assert message.startswith("another run is at work in the run folder out")
        assert job.running()


def test_auto_starts_goes_on_and_finds_nothing_to_do(whole, tmp_path):
    with begin(tmp_path, "--resume", "auto") as job:
        wait_for(job, lambda: checkpoint_number(tmp_path) >= 5)
        job.signal(signal.SIGKILL)
        for pid in job.processes():
            subprocess.run(["kill", "-9", str(pid)], check=False, capture_output=True)
    with begin(tmp_path, "--resume", "auto") as job:
        assert "going on with out" in job.wait(60).expect(0).stdout
    assert_same(whole, tmp_path / "out")
    with begin(tmp_path, "--resume", "auto") as job:
        assert "finished already" in job.wait(60).expect(0).stdout


def test_a_run_without_a_checkpoint_starts_from_the_beginning(whole, tmp_path):
    with begin(tmp_path, "--set", "checkpoint.steps=0") as job:
        wait_for(job, (tmp_path / "out" / "metrics.jsonl").exists)
        wait_for(job, lambda: (tmp_path / "out" / "metrics.jsonl").stat().st_size)
        os.kill(ranks_of(job)[0], signal.SIGKILL)
        job.wait(10)
    result = resume(tmp_path).expect(0)
    assert "has no checkpoint; the run starts from the beginning" in result.stdout
    assert_same(whole, tmp_path / "out")


def test_what_is_no_run_folder_is_left_alone(tmp_path):
    assert "no such run folder" in complaint(resume(tmp_path))
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("x")
    assert "it holds no config.toml" in complaint(resume(tmp_path))
    with begin(tmp_path, "--resume", "auto") as job:
        message = complaint(job.wait(30))
    assert message.startswith("out is no run folder: it has no config.toml, but thesis")
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["thesis.tex"]
