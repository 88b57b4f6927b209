"""Job scripts, filled in: they parse, and say what was asked."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from pmgt_mpi.errors import UserError
from pmgt_mpi.launch.command import main
from pmgt_mpi.launch.fill import FILES, filled, scripts
from pmgt_mpi.launch.job import Job, job_name, seconds_of

JOB = Job(
    name="my-run",
    ranks=64,
    config="/data/my run.toml",
    seconds=7200,
    options=("--set", "stop.steps=10", "--set", "run.name=it's"),
    python=("/env/bin/python",),
    mpirun="/env/bin/mpirun",
    hostfile="/data/hosts",
)
SHELL = ["slurm", "pbs", "lsf", "hosts"]


def parses(text: str) -> None:
    subprocess.run(["bash", "-n"], input=text, text=True, check=True)


@pytest.mark.parametrize("kind", SHELL)
def test_shell_scripts_parse_as_they_are_and_filled_in(kind):
    parses((scripts() / FILES[kind]).read_text())
    text = filled(kind, JOB)
    parses(text)
    lines = text.splitlines()
    assert "config='/data/my run.toml'" in lines
    assert "python=(/env/bin/python)" in lines
    assert "mpirun=/env/bin/mpirun" in lines
    quoted = "--set stop.steps=10 --set 'run.name=it'\"'\"'s')"
    options = next(line for line in lines if line.startswith("options=("))
    assert options.endswith(quoted)


def test_every_script_runs_and_heeds_signals_in_the_same_way():
    blocks = set()
    for kind in SHELL:
        _, _, rest = filled(kind, JOB).partition("# --- the same in every script: ")
        block, _, after = rest.partition("# --- the same in every script, up to here")
        assert after
        blocks.add(block)
    assert len(blocks) == 1
    assert "-m pmgt_mpi.run" in blocks.pop()


@pytest.mark.parametrize(
    ("kind", "lines"),
    [
        (
            "slurm",
            [
                "#SBATCH --job-name=my-run",
                "#SBATCH --ntasks=64",
                "#SBATCH --time=02:00:00",
                "#SBATCH --signal=B:USR1@180",
            ],
        ),
        (
            "pbs",
            [
                "#PBS -N my-run",
                "#PBS -l select=64:ncpus=1:mpiprocs=1",
                "#PBS -l walltime=02:00:00",
                "ranks=64",
                "max_seconds=7020",
            ],
        ),
        ("lsf", ["#BSUB -J my-run", "#BSUB -n 64", "#BSUB -W 02:00", "#BSUB -wt 3"]),
        (
            "hosts",
            [
                "hostfile=/data/hosts",
                "ranks=64",
                "options=(--max-seconds 7200 --set stop.steps=10 "
                "--set 'run.name=it'\"'\"'s')",
            ],
        ),
    ],
)
def test_what_was_asked_stands_in_the_script(kind, lines):
    text = filled(kind, JOB).splitlines()
    for line in lines:
        assert text.count(line) == 1, line


@pytest.mark.parametrize(
    ("kind", "prefix"), [("slurm", "#SBATCH"), ("pbs", "#PBS"), ("lsf", "#BSUB")]
)
def test_more_directives_stand_with_the_others(kind, prefix):
    job = Job("a", 2, "c", directives=("--partition=long", "--account=x"))
    lines = filled(kind, job).splitlines()
    at = lines.index(f"{prefix} --partition=long")
    assert lines[at + 1] == f"{prefix} --account=x"
    assert lines[at - 1].startswith(prefix)
    assert "set -euo pipefail" in lines[at + 2]


def test_a_short_job_is_warned_in_its_last_quarter():
    job = Job("a", 2, "c", seconds=60)
    assert "#SBATCH --signal=B:USR1@15" in filled("slurm", job).splitlines()
    assert "max_seconds=45" in filled("pbs", job).splitlines()


def test_the_folder_is_the_scripts_choice_unless_it_is_named():
    plain = (scripts() / "slurm.sbatch").read_text()
    own = next(line for line in plain.splitlines() if line.startswith("out="))
    assert own in filled("slurm", JOB).splitlines()
    named = filled("slurm", Job("a", 2, "c", out="runs/b c"))
    assert "out='runs/b c'" in named.splitlines()


def test_kubernetes_job_is_what_the_operator_reads():
    job = Job("my-run", 6, "/data/c.toml", options=("--set", "a.b=1"), slots=3)
    for text in (
        (scripts() / FILES["kubernetes"]).read_text(),
        filled("kubernetes", job),
    ):
        spec = yaml.safe_load(text)["spec"]
        launcher, worker = (
            spec["mpiReplicaSpecs"][name] for name in ("Launcher", "Worker")
        )
        start = launcher["template"]["spec"]["containers"][0]
        assert yaml.safe_load(text)["apiVersion"] == "kubeflow.org/v2beta1"
        assert start["args"][:3] == ["python", "-m", "pmgt_mpi.run"]
        asked = int(start["command"][start["command"].index("-n") + 1])
        assert asked == spec["slotsPerWorker"] * worker["replicas"]
        assert launcher["restartPolicy"] == "OnFailure"
    assert start["args"][3:] == [
        "--config", "/data/c.toml", "--out", "runs/my-run", "--resume", "auto",
        "--set", "a.b=1",
    ]  # fmt: skip
    assert (asked, worker["replicas"]) == (6, 2)


@pytest.mark.parametrize(
    ("time", "seconds"),
    [("02:00:00", 7200), ("1-00:00:01", 86401), ("5:30", 330), ("100:00:00", 360000)],
)
def test_times(time, seconds):
    assert seconds_of(time) == seconds


@pytest.mark.parametrize(
    "time",
    [
        "2h", "00:00:00", "1:2:3", "", "10", "00:00:61", "٠١:٠٠:٠٠", f"{'9' * 5000}:00",
    ],
)  # fmt: skip
def test_wrong_times_are_refused(time):
    with pytest.raises(UserError, match="expected HH:MM:SS"):
        seconds_of(time)


def test_names_are_such_as_schedulers_take():
    assert job_name("Figure 3, left!") == "figure-3-left"
    assert job_name("…") == "pmgt-mpi"


CONFIG = """
[run]
name = "My run"
[data]
source = "bernoulli"
rows = 100
columns = 5
[problem]
kind = "shift-invert-pca"
[[algorithm]]
name = "nids"
"""


@pytest.fixture
def config(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("my.toml").write_text(CONFIG)
    return "my.toml"


def test_command_prints_or_writes(config, capsys):
    arguments = ["slurm", "--ranks", "4", "--config", config]
    assert main([*arguments, "--dry-run", "--", "--set", "stop.steps=3"]) == 0
    printed = capsys.readouterr().out
    assert "#SBATCH --job-name=my-run\n" in printed
    assert "options=(--set stop.steps=3)\n" in printed
    assert f"python=({sys.executable})\n" in printed
    assert not Path("my-run.sbatch").exists()
    assert main([*arguments, "--apptainer", "p.sif"]) == 0
    assert capsys.readouterr().out == "my-run.sbatch\n"
    text = Path("my-run.sbatch").read_text()
    assert "python=(apptainer exec p.sif python)\n" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["slurm", "--ranks", "0"], "--ranks 0: expected 1 or more"),
        (["slurm", "--ranks", "2", "--time", "x"], "--time x: expected HH:MM:SS"),
        (["hosts", "--ranks", "2"], "hosts needs --hostfile FILE"),
        (["kubernetes", "--ranks", "3", "--slots", "2"], "--slots 2 does not divide"),
        (["kubernetes", "--ranks", "3", "--time", "1:00"], "omit --time, or stop"),
        (["kubernetes", "--ranks", "3", "--slots", "0"], "--slots 0: expected 1 or m"),
        (["slurm", "--ranks", "2", "--directive", "a\nb"], "an argument has two lines"),
        (
            ["slurm", "--ranks", "2", "--", "--set", "stop.stepz=1"],
            "[stop] has no key 'stepz'",
        ),
    ],
)
def test_wrong_input_is_told_in_a_sentence(config, capsys, arguments, message):
    arguments[1:1] = ["--config", config, "--dry-run"]
    assert main(arguments) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("pmgt_mpi: error: ")
    assert message in told.err


def test_a_script_that_cannot_be_written(config, capsys):
    arguments = ["slurm", "--ranks", "2", "--config", config, "--write", "no/folder"]
    assert main(arguments) == 2
    assert capsys.readouterr().err == (
        "pmgt_mpi: error: cannot write no/folder: No such file or directory; choose "
        "another file with --write\n"
    )


def test_names_and_paths_of_any_kind_stand_in_a_script(config, capsys, tmp_path):
    odd = "\udcffé.toml"
    (tmp_path / odd).write_text(CONFIG.replace("My run", "123"))
    assert main(["slurm", "--ranks", "2", "--config", odd]) == 0
    assert capsys.readouterr().out == "123.sbatch\n"
    assert odd in Path("123.sbatch").read_text(errors="surrogateescape")
    assert main(["kubernetes", "--ranks", "2", "--config", config, "--name", "7"]) == 0
    job = yaml.safe_load(Path("7.yaml").read_text())
    assert job["metadata"]["name"] == "7"


def test_submitting_needs_the_scheduler(config, capsys, monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert main(["pbs", "--ranks", "2", "--config", config, "--submit"]) == 2
    assert "there is no qsub here, so my-run.sh was written" in capsys.readouterr().err
