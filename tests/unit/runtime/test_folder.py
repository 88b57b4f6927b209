"""The run folder: a new one, whole files, nothing that JSON cannot hold."""

from __future__ import annotations

import json
import math
import tomllib
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from pmgt_mpi.errors import UserError
from pmgt_mpi.runtime import folder as module
from pmgt_mpi.runtime.folder import RunFolder, default_path, finite


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
    text = "the run folder {} exists already; choose another with --out, or remove it"
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
