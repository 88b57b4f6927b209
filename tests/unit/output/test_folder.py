"""The run folder: a new one, whole files, nothing that JSON cannot hold."""

from __future__ import annotations

import json
import math
import os
import resource
import subprocess
import sys
import tomllib
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from pmgt_mpi.errors import DiskError, UserError
from pmgt_mpi.output import folder as module
from pmgt_mpi.output.folder import RunFolder, default_path, finite


@pytest.fixture
def folder(tmp_path):
    made = RunFolder(tmp_path / "runs" / "one")
    yield made
    made.close()


def complaint(path):
    with pytest.raises(UserError) as error:
        RunFolder(path)
    return str(error.value)


def test_a_folder_or_file_that_exists_already(folder, tmp_path):
    text = (
        "the run folder {0} exists already; choose another with --out, remove it, or "
        "resume the run in it with --resume {0}"
    )
    assert complaint(folder.path) == text.format(folder.path)
    file = tmp_path / "file"
    file.write_text("kept")
    assert complaint(file) == text.format(file)
    assert file.read_text() == "kept"


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").touch()
    path = tmp_path / "file" / "run"
    assert complaint(path) == (
        f"cannot make the run folder {path}: Not a directory; choose another with --out"
    )


def test_a_second_run_in_the_same_folder_is_refused_until_the_first_ends(folder):
    with pytest.raises(UserError, match="another run is at work in the run folder"):
        RunFolder(folder.path, reopen=True)
    folder.record({"step": 0})
    child = [sys.executable, "-c", HOLDS, str(folder.path)]
    folder.close()
    with subprocess.Popen(child, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        with pytest.raises(UserError, match="another run is at work"):
            RunFolder(folder.path, reopen=True)
        other.kill()
    reopened = RunFolder(folder.path, reopen=True)
    assert (folder.path / "metrics.jsonl").read_text() == '{"step": 0}\n'
    folder._metrics = reopened._metrics  # for the fixture to close


HOLDS = """
import sys, time
from pathlib import Path
from pmgt_mpi.output.folder import RunFolder
folder = RunFolder(Path(sys.argv[1]), reopen=True)
print("locked", flush=True)
time.sleep(60)
"""


def test_metrics_are_cut_back_and_known_by_their_beginning(folder):
    folder.record({"step": 0})
    length = folder.sync_metrics()
    digest = folder.metrics_digest(length)
    folder.record({"step": 1})
    assert folder.metrics_digest(length) == digest
    assert folder.metrics_digest(folder.sync_metrics()) != digest
    assert folder.metrics_digest(1000) is None
    folder.cut_metrics(length)
    folder.record({"step": 2})
    lines = (folder.path / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line)["step"] for line in lines] == [0, 2]


def test_metrics_of_any_length_are_known(folder, monkeypatch):
    """One read brings 2 GB at most, and may bring less."""
    for step in range(100):
        folder.record({"step": step})
    length = folder.sync_metrics()
    digest = folder.metrics_digest(length)
    pread = os.pread
    monkeypatch.setattr(os, "pread", lambda file, n, at: pread(file, min(n, 7), at))
    assert folder.metrics_digest(length) == digest
    assert folder.metrics_digest(length + 1) is None


def test_a_run_that_is_resumed_changes_nothing_until_it_is_taken_up(folder):
    folder.record({"step": 0})
    folder.write_json("summary.json", [1])
    folder.close()
    again = RunFolder(folder.path, reopen=True)
    again.cut_metrics(0)
    again.forget_summary()
    again.write_json("meta.json", {})
    assert {path.name: path.stat().st_size for path in folder.path.iterdir()} == {
        "metrics.jsonl": 12,
        "summary.json": 8,
    }
    again.take_up()
    assert {path.name: path.stat().st_size for path in folder.path.iterdir()} == {
        "metrics.jsonl": 0,
        "meta.json": 3,
    }
    again.write_json("meta.json", [])
    assert json.loads((folder.path / "meta.json").read_text()) == []


def test_a_file_that_cannot_grow_is_told_and_keeps_its_whole_lines(folder):
    folder.record({"step": 0})
    size = (folder.path / "metrics.jsonl").stat().st_size
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 3, hard))
    try:
        with pytest.raises(DiskError) as error:
            folder.record({"step": 1})
        with pytest.raises(DiskError, match=r"cannot write .*solution\.npz"):
            folder.write_solutions({"x": np.ones(100)})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert str(error.value) == (
        f"cannot write {folder.path}/metrics.jsonl: File too large; what was written "
        "before is safe: when the disk can be written again, continue with --resume "
        f"{folder.path}"
    )
    assert (folder.path / "metrics.jsonl").read_text() == '{"step": 0}\n'
    assert [file.name for file in folder.path.iterdir()] == ["metrics.jsonl"]


def test_records_are_lines_and_on_the_disk_at_once(folder):
    folder.record({"step": 0, "objective": math.inf})
    folder.record({"step": 1, "objective": 0.1})
    lines = (folder.path / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == [
        {"step": 0, "objective": None},
        {"step": 1, "objective": 0.1},
    ]


def test_files_are_written_whole_and_leave_nothing_beside(folder):
    folder.write_json("meta.json", {"x": math.nan, "name": "é"})
    folder.write_json("meta.json", {"x": [1.5], "name": "é"})
    folder.write_toml("config.toml", {"run": {"name": "é", "low": -math.inf}})
    folder.write_csv("ranks.csv", [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}])
    path = folder.path
    assert json.loads((path / "meta.json").read_text()) == {"x": [1.5], "name": "é"}
    assert "é" in (path / "meta.json").read_text()
    config = tomllib.loads((path / "config.toml").read_text())
    assert config == {"run": {"name": "é", "low": -math.inf}}
    assert (path / "ranks.csv").read_text().split() == ["a,b", "1,x", "2,y"]
    names = {file.name for file in path.iterdir()}
    assert names == {"metrics.jsonl", "meta.json", "config.toml", "ranks.csv"}


def test_solutions_keep_their_bits_whatever_they_are_called(folder):
    arrays = {
        "nids": np.array([0.1, -0.0, np.nan]),
        "nids/agents": np.arange(6, dtype=np.float32).reshape(2, 3),
        "file": np.array(3.0),
        "allow_pickle": np.ones(1),
        "my:Own method": np.asfortranarray(np.eye(2) * 1e300),
    }
    folder.write_solutions(arrays)
    with np.load(folder.path / "solution.npz", allow_pickle=False) as stored:
        assert list(stored) == list(arrays)
        for name, array in arrays.items():
            assert stored[name].dtype == array.dtype
            assert stored[name].shape == array.shape
            assert stored[name].tobytes() == array.tobytes()


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (math.inf, None),
        (-math.inf, None),
        (math.nan, None),
        (np.float64("nan"), None),
        (np.float32("inf"), None),
        (np.float32(0.5), 0.5),
        (1e308, 1e308),
        (3, 3),
        (True, True),
        ("inf", "inf"),
        (None, None),
        ((1.0, math.inf), [1.0, None]),
        ({"a": [{"b": math.nan}], "c": 1}, {"a": [{"b": None}], "c": 1}),
    ],
)
def test_finite(value, expected):
    result = finite(value)
    assert result == expected
    assert type(result) is type(expected)
    json.dumps(result, allow_nan=False)


def test_default_path_is_dated_and_numbered_where_it_is_taken(tmp_path, monkeypatch):
    class Fixed(datetime):
        @classmethod
        def now(cls, tz=None):
            assert tz is UTC
            return cls(2026, 3, 4, 5, 6, 7).astimezone()

    monkeypatch.setattr(module, "datetime", Fixed)
    monkeypatch.chdir(tmp_path)
    first = default_path("try")
    assert first == Path("runs/try-20260304-050607")
    RunFolder(first).close()
    second = default_path("try")
    assert second == Path("runs/try-20260304-050607-2")
    second.symlink_to("nowhere")
    assert default_path("try") == Path("runs/try-20260304-050607-3")
    assert default_path("other") == Path("runs/other-20260304-050607")
