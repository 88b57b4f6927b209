"""Where output goes is no reason to fail: encodings, pipes that close, full disks."""

from __future__ import annotations

import os
import sys

import pytest

from tests.launcher import mpirun, run
from tests.support.run_folders import trace, write_run
from tests.support.running import SMALL, Left, run_config

LATIN1 = {"PYTHONIOENCODING": "latin1"}
ASCII = {"PYTHONIOENCODING": "ascii"}
POSIX = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
ENCODINGS = pytest.mark.parametrize("env", [LATIN1, ASCII, POSIX], ids=str)

LABEL = "λ₂ \x1b[31m$\\frac{$"

COMMANDS = {
    "list": ["-m", "pmgt_mpi.run", "--list"],
    "run": ["-m", "pmgt_mpi.run", "--config", "c.toml", "--out", "out"],
    "help": ["-m", "pmgt_mpi.report", "--help"],
    "report": ["-m", "pmgt_mpi.report", "run", "--format", "markdown"],
    "plan": [
        "-m", "pmgt_mpi.plan", "--config", "c.toml", "--ranks", "4", "--latency",
        "1e-6", "--bandwidth", "1e10",
    ],
    "launch": ["-m", "pmgt_mpi.launch", "slurm", "--ranks", "2", "--config", "c.toml"],
    "data": ["-m", "pmgt_mpi.data", "fetch", "covtype", "--out", "é\x1b", "--url", "x"],
}  # fmt: skip
EXPECTED = {"data": 2}


@pytest.fixture
def folder(tmp_path):
    """A config, and a run folder, both with names that not every terminal can show."""
    (tmp_path / "c.toml").write_text(
        SMALL.replace('name = "small"', 'name = "λ"')
        .replace('name = "nids"', 'name = "nids"\nlabel = "ν-ids"')
    )  # fmt: skip
    write_run(tmp_path / "run", trace(LABEL, [1.0, 1e-3]), name="λ")
    return tmp_path


@ENCODINGS
@pytest.mark.parametrize("name", COMMANDS)
def test_what_an_encoding_lacks_does_not_end_a_command(folder, name, env):
    result = run([sys.executable, *COMMANDS[name]], cwd=folder, env=env)
    result.expect(EXPECTED.get(name, 0))
    assert "Traceback" not in result.stderr
    assert "Error" not in result.stderr.replace("error: ", "")
    assert "\x1b" not in result.stdout + result.stderr


@ENCODINGS
def test_a_run_ends_well_whatever_its_folder_is_called(tmp_path, env):
    run_config(tmp_path, SMALL, out="é-λ", env=env, ranks=2).expect(0)
    left = Left(tmp_path / "é-λ")
    assert len(left.summary) == 4
    written = os.fsencode(left.meta["command"][-1])  # as it was given, byte for byte
    assert written == "é-λ".encode()


@pytest.mark.parametrize("name", COMMANDS)
def test_a_reader_that_is_gone_does_not_end_a_command(folder, name):
    words = " ".join(f"'{word}'" for word in [sys.executable, *COMMANDS[name]])
    script = f'{{ {words}; echo "code $?" >&2; }} | true'
    result = run(["bash", "-c", script], cwd=folder).expect(0)
    assert f"code {EXPECTED.get(name, 0)}" in result.stderr.splitlines()
    assert "Error" not in result.stderr
    assert "Exception" not in result.stderr
    if name == "run":
        assert len(Left(folder / "out").summary) == 4


@pytest.mark.parametrize("where", [">/dev/full", ">&-"])
@pytest.mark.parametrize("name", COMMANDS)
def test_an_output_that_cannot_be_written(folder, name, where):
    words = " ".join(f"'{word}'" for word in [sys.executable, *COMMANDS[name]])
    result = run(["bash", "-c", f"exec {words} {where}"], cwd=folder)
    assert "Traceback" not in result.stderr
    assert "Exception" not in result.stderr
    if where == ">/dev/full" and name in ("list", "help", "report", "plan"):
        result.expect(1)  # all that was asked for is lost
        error = "pmgt_mpi: error: cannot write the output: No space left on device\n"
        assert result.stderr == error
    else:
        result.expect(EXPECTED.get(name, 0))


def test_a_run_on_several_ranks_ends_well_without_a_reader(tmp_path):
    (tmp_path / "c.toml").write_text(SMALL)
    result = mpirun(2, COMMANDS["run"], cwd=tmp_path, env=ASCII)
    result.expect(0)
    assert "Traceback" not in result.stderr
