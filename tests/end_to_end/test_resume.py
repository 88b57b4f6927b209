"""Runs that are killed and resumed: nothing lost, and nothing else resumed."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import tomllib

import numpy as np
import pytest

from pmgt_mpi.checkpoints.manifest import Manifest
from pmgt_mpi.config.read import read_config
from pmgt_mpi.errors import UserError
from tests.launcher import mpirun, start_mpirun
from tests.support.resuming import (
    LONG,
    arguments,
    assert_same,
    begin,
    checkpoint_number,
    contents,
    environment,
    manifests,
    ranks_of,
    resume,
    wait_for,
)
from tests.support.running import SMALL, Left, run_config


def complaint(result) -> str:
    """Return the one message of a job that was refused."""
    result.expect(2)
    assert "Traceback" not in result.stdout + result.stderr
    (line,) = [s for s in result.stderr.splitlines() if "pmgt_mpi: error: " in s]
    return line.removeprefix("pmgt_mpi: error: ")


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """A run of which one rank was killed, well after its first checkpoint."""
    folder = tmp_path_factory.mktemp("killed")
    with begin(folder) as job:
        wait_for(job, lambda: checkpoint_number(folder) >= 11, limit=100)
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


def test_a_killed_run_continues_and_ends_with_the_same_bits(whole, broken):
    result = resume(broken).expect(0)
    assert "resuming out from checkpoint" in result.stdout
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


def test_another_processor_or_blas_is_told_and_the_run_continues(whole, broken):
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


def a_state_that_cannot_be_read(out):
    """A folder where the file should be: root may read everything."""
    path = max((out / "checkpoint").glob("[0-9]*")) / "agent-3.state"
    path.unlink()
    path.mkdir()
    return "agent-3.state cannot be read: Is a directory; let the user of this job"


def checkpoints_that_cannot_be_listed(out):
    """A file where the folder should be: root may list everything."""
    shutil.rmtree(out / "checkpoint")
    (out / "checkpoint").touch()
    return "checkpoint cannot be read: Not a directory; let the user of this job"


def a_checkpoint_that_cannot_be_looked_into(out):
    for path in (out / "checkpoint").glob("[0-9]*"):
        shutil.rmtree(path)
        path.touch()
    return "manifest.json cannot be read: Not a directory; let the user of this job"


def other_metrics(out):
    text = (out / "metrics.jsonl").read_text()
    (out / "metrics.jsonl").write_text(text.replace("0", "1", 1))
    return "metrics.jsonl was changed after checkpoint"


def another_layout(out):
    for path in (out / "checkpoint").glob("[0-9]*/manifest.json"):
        content = json.loads(path.read_text())["content"] | {"schema": 99}
        path.write_text(sealed(content))
    return "was written by another version of pmgt_mpi (layout 99, and this one reads"


def manifests_without_keys(out):
    for path in (out / "checkpoint").glob("[0-9]*/manifest.json"):
        content = json.loads(path.read_text())["content"]
        path.write_text(sealed({k: content[k] for k in ("schema", "number")}))
    return "no checkpoint of"


def manifests_that_are_nested_deeply(out):
    for path in (out / "checkpoint").glob("[0-9]*/manifest.json"):
        path.write_text("[" * 100_000)
    return "no checkpoint of"


def an_empty_config(out):
    (out / "config.toml").write_text("")
    return (
        "is missing; valid: bernoulli, gaussian, npy, libsvm, csv (it is not as a run"
    )


def of_version_0_1(out):
    (out / "asked.toml").unlink()
    meta = json.loads((out / "meta.json").read_text())
    (out / "meta.json").write_text(json.dumps({**meta, "schema": 1}))
    return "was written by another version of pmgt_mpi (schema 1, and this one reads 2)"


def of_version_0_1_and_ended_in_the_set_up(out):
    (out / "asked.toml").unlink()
    (out / "meta.json").unlink()
    return "was written by another version of pmgt_mpi (schema 1, and this one reads 2)"


def no_metrics(out):
    (out / "metrics.jsonl").unlink()
    return "it has a config.toml, but no metrics.jsonl"


def metrics_that_lead_elsewhere(out):
    (out / "metrics.jsonl").rename(out.parent / "elsewhere")
    (out / "metrics.jsonl").symlink_to("../elsewhere")
    return "metrics.jsonl is a link, or no plain file"


def a_checkpoint_that_leads_elsewhere(out):
    (out / "checkpoint").rename(out.parent / "elsewhere")
    (out / "checkpoint").symlink_to("../elsewhere")
    return "checkpoint is a link, or no plain file"


def sealed(content):
    """A manifest whose checksum is right."""
    text = json.dumps(content, sort_keys=True).encode()
    digest = hashlib.blake2b(text, digest_size=16).hexdigest()
    return json.dumps({"content": content, "blake2b": digest})


@pytest.mark.parametrize(
    "harm",
    [
        a_state_that_cannot_be_read,
        checkpoints_that_cannot_be_listed,
        a_checkpoint_that_cannot_be_looked_into,
        other_metrics,
        another_layout,
        manifests_without_keys,
        manifests_that_are_nested_deeply,
        an_empty_config,
        of_version_0_1,
        of_version_0_1_and_ended_in_the_set_up,
        no_metrics,
        metrics_that_lead_elsewhere,
        a_checkpoint_that_leads_elsewhere,
    ],
)
def test_a_refusal_changes_nothing(broken, harm):
    told = harm(broken / "out")
    before = contents(broken)
    config = ("--config", "config.toml", "--out", "out", "--resume", "auto")
    result = mpirun(4, arguments(*config), cwd=broken, env=environment(broken))
    assert told in complaint(result)
    assert contents(broken) == before


OWN = """
from dataclasses import dataclass
from typing import Any


@dataclass
class State:
    x: Any


@dataclass(frozen=True)
class Descent:
    def resolve(self, setting):
        return self

    def init(self, agent, x0):
        return State(x0)

    def step(self, agent, s):
        return State(agent.gossip(s.x) - 0.01 * agent.grad(s.x))

    def solution(self, s):
        return s.x
"""


def test_another_state_of_ones_own_algorithm_is_refused_and_changes_nothing(tmp_path):
    """Found when the first state is there, and not before."""
    (tmp_path / "own.py").write_text(OWN)
    text = SMALL.split("[[algorithm]]")[0] + '[[algorithm]]\nname = "own:Descent"\n'
    plugin = ("--allow-plugins",)
    run_config(tmp_path, text, ranks=2, more=plugin).expect(0)
    (tmp_path / "own.py").write_text(OWN.replace("x: Any", "x: Any\n    k: int = 0"))
    before = contents(tmp_path / "out")
    sets = ("--set", "stop.steps=9")
    assert "another version of the algorithm: its state has x, not x, k; use" in (
        complaint(resume(tmp_path, *sets, *plugin, ranks=2))
    )
    assert contents(tmp_path / "out") == before


def test_a_finished_run_is_never_touched(whole, tmp_path):
    shutil.copytree(whole, tmp_path / "out")
    before = contents(tmp_path / "out")
    told = complaint(resume(tmp_path, "--set", "stop.steps=50"))
    assert told == (
        "cannot resume out: pmgt-katyushax has done 150 steps, and its budget is "
        "50 now; give 150 or more, or start a new run with another --out"
    )
    assert contents(tmp_path / "out") == before
    said = resume(tmp_path, "--set", "stop.relative_suboptimality=1e-30").expect(0)
    assert "finished already, nothing to do" in said.stdout
    assert contents(tmp_path / "out") == before


def test_a_finished_run_without_a_checkpoint_is_not_begun_again(tmp_path):
    run_config(tmp_path, set=("checkpoint.minutes=0", "stop.steps=3"), ranks=2).expect(
        0
    )
    before = contents(tmp_path / "out")
    told = complaint(resume(tmp_path, "--set", "stop.steps=6", ranks=2))
    assert "its run has ended and left no checkpoint" in told
    assert contents(tmp_path / "out") == before


@pytest.mark.parametrize(
    ("harm", "told"),
    [
        (lambda file: file.write_text(file.read_text()[:-9]), "is not what a run has"),
        (lambda file: file.write_text('[{"algorithm": "nids"}]'), "is not what a run"),
        (lambda file: (file.unlink(), file.mkdir()), "cannot be read: Is a directory"),
    ],
)
def test_a_finished_run_whose_summary_is_damaged_is_not_begun_again(
    tmp_path, harm, told
):
    sets = ("checkpoint.minutes=0", "stop.steps=3")
    run_config(tmp_path, set=sets, ranks=2).expect(0)
    harm(tmp_path / "out" / "summary.json")
    before = contents(tmp_path / "out")
    again = run_config(tmp_path, set=sets, ranks=2, more=("--resume", "auto"))
    assert complaint(again).startswith(f"out/summary.json {told}")
    assert contents(tmp_path / "out") == before


def test_a_run_that_has_ended_continues_with_a_longer_budget(tmp_path):
    (tmp_path / "long").mkdir()
    run_config(tmp_path, ranks=2).expect(0)
    assert len(manifests(tmp_path)) == 2
    said = resume(tmp_path, "--set", "stop.steps=20", ranks=2).expect(0).stdout
    assert "resuming out from checkpoint 4: algorithm 4, step 8" in said
    assert "note: pg-extra has ended after 8 steps and stays so" in said
    run_config(tmp_path / "long", set=("stop.steps=20",), ranks=2).expect(0)
    ours, long = Left(tmp_path / "out"), Left(tmp_path / "long" / "out")
    assert [one["step"] for one in ours.summary] == [8, 8, 8, 20]
    assert ours.solution["nids/agents"].tobytes() == (
        long.solution["nids/agents"].tobytes()
    )
    for key in ("gradients", "rounds", "messages", "bytes", "relative_suboptimality"):
        assert ours.summary[3][key] == long.summary[3][key]


def test_every_algorithm_ends_with_a_checkpoint(tmp_path):
    """One that is done is not done again, whenever the others are killed."""
    text = SMALL.replace("steps = 8", "steps = 1000000\n[evaluate]\nevery = 0")
    first = 'name = "nids"\nlabel = "first"\nsteps = 5'
    text = text.replace('name = "pmgt-katyushax"', first, 1)
    with begin(tmp_path, text=text, ranks=2) as job:
        wait_for(job, lambda: checkpoint_number(tmp_path) == 1)
        os.kill(ranks_of(job)[0], signal.SIGKILL)
        job.wait(10)
    said = resume(tmp_path, "--max-seconds", "4", ranks=2).expect(75).stdout
    assert "resuming out from checkpoint 1: algorithm 2, step 0" in said
    assert Left(tmp_path / "out").summary[0]["algorithm"] == "first"


def test_several_algorithms_keep_their_own_budgets(tmp_path):
    run_config(
        tmp_path,
        set=("algorithm.0.steps=5", "algorithm.1.steps=3"),
        ranks=2,
    ).expect(0)
    resume(tmp_path, "--set", "stop.steps=11", ranks=2).expect(0)
    steps = [one["step"] for one in Left(tmp_path / "out").summary]
    assert steps == [5, 3, 8, 11]


def test_a_longer_budget_continues_as_if_it_had_been_so_from_the_start(tmp_path):
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
        ("algorithm.1.batch_size=3", "pmgt-svrg: batch_size is 3, and was 'auto'"),
    ],
)
def test_another_run_is_not_taken_up(killed, assignment, told):
    message = complaint(resume(killed, "--set", assignment))
    assert message.startswith("cannot resume out: ")
    assert told in message


def test_another_engine_is_not_taken_up(killed):
    config = tomllib.loads((killed / "out" / "config.toml").read_text())
    if config["run"]["engine"] != "compiled":
        pytest.skip("no compiled engine here")
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


def test_auto_starts_continues_and_finds_nothing_to_do(whole, tmp_path):
    with begin(tmp_path, "--resume", "auto") as job:
        wait_for(job, lambda: checkpoint_number(tmp_path) >= 5)
        job.signal(signal.SIGKILL)
        for pid in job.processes():
            subprocess.run(["kill", "-9", str(pid)], check=False, capture_output=True)
    with begin(tmp_path, "--resume", "auto") as job:
        assert "resuming out" in job.wait(60).expect(0).stdout
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
    assert "it holds no asked.toml" in complaint(resume(tmp_path))
    with begin(tmp_path, "--resume", "auto") as job:
        message = complaint(job.wait(30))
    assert message.startswith("out is no run folder: it has no config.toml, but thesis")
    assert [p.name for p in (tmp_path / "out").iterdir()] == ["thesis.tex"]


def test_an_automatic_cadence_is_a_number_that_continues(tmp_path):
    sets = ("evaluate.every=auto", "algorithm.3.evaluate_every=2")
    run_config(tmp_path, ranks=2, set=sets).expect(0)
    config = tomllib.loads((tmp_path / "out" / "config.toml").read_text())
    for key in ("mixing.rounds", "evaluate.every"):
        with pytest.raises(UserError, match=f"--set {key}=3 would change nothing"):
            read_config(tmp_path / "out" / "config.toml", [f"{key}=3"])
        asked = read_config(tmp_path / "out" / "asked.toml", [f"{key}=3"])
        assert 3 in (asked.mixing.rounds, asked.every(asked.algorithm[0]))
    told = [one["evaluate_every"] for one in config["algorithm"]]
    # PG-EXTRA reads all rows twice a step, a record three times: 3 / (0.1 · 2).
    assert told[2:] == [15, 2]
    assert all(isinstance(every, int) and every >= 1 for every in told)
    more = [*("--config", "config.toml", "--out", "out", "--resume", "auto")]
    for assignment in (*sets, "stop.steps=9"):
        more += ["--set", assignment]
    result = mpirun(2, arguments(*more), cwd=tmp_path, env=environment(tmp_path))
    assert "algorithm 4, step 8" in result.expect(0).stdout
    after = tomllib.loads((tmp_path / "out" / "config.toml").read_text())
    assert after["algorithm"] == config["algorithm"]
