"""What an earlier run has left as its results: read whole, or refused."""

from __future__ import annotations

import json
import os

import pytest

from pmgt_mpi.checkpoints.earlier import (
    Done,
    _summary,
    config_in,
    folder_of,
    open_earlier,
)
from pmgt_mpi.errors import UserError

TOLD = {"algorithm": "nids", "status": "budget", "step": 3, "seconds": 0.5}


def test_a_summary_tells_how_far_each_algorithm_came(tmp_path):
    assert _summary(tmp_path) is None
    (tmp_path / "summary.json").write_text(json.dumps([{**TOLD, "more": 1}]))
    assert _summary(tmp_path) == [Done("nids", "budget", 3, 0.5)]


@pytest.mark.parametrize(
    "text",
    ["", "[", "3", "[]", "{}", '{"a": 1}', "[3]", "[{}]", "[" * 100_000, "\xff",
     json.dumps([{**TOLD, "step": None}]), json.dumps([{**TOLD, "seconds": "1"}])],
)  # fmt: skip
def test_a_damaged_summary_is_not_that_of_a_run_that_goes_on(tmp_path, text):
    (tmp_path / "summary.json").write_text(text, encoding="latin1")
    with pytest.raises(UserError) as error:
        _summary(tmp_path)
    assert str(error.value) == (
        f"{tmp_path}/summary.json is not what a run has written, so that nobody knows "
        "whether the run in its folder has ended; put the original back, or start a "
        "new run with another --out"
    )


def test_the_newest_run_that_is_not_known_to_have_ended_is_taken_up(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    for number, text in enumerate((json.dumps([TOLD]), "[", json.dumps([TOLD]))):
        path = tmp_path / "runs" / f"a-20260101-00000{number}"
        path.mkdir(parents=True)
        (path / "summary.json").write_text(text)
        os.utime(path, (number, number))
    found = folder_of("auto", None, "a")
    assert found is not None
    assert found.name == "a-20260101-000001"


def test_nobody_waits_at_a_pipe(tmp_path, monkeypatch):
    """One that another user has put in the place of a file never ends."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "runs" / "a-20260101-000000"
    path.mkdir(parents=True)
    (path / "config.toml").touch()
    os.mkfifo(path / "asked.toml")
    with pytest.raises(UserError, match=r"asked\.toml is a link, or no plain file"):
        config_in(path)
    os.mkfifo(path / "meta.json")
    with pytest.raises(UserError, match=r"meta\.json cannot be read: it is no pl"):
        open_earlier(path, allow_plugins=False)
    os.mkfifo(path / "summary.json")
    found = folder_of("auto", None, "a")
    assert found is not None
    with pytest.raises(UserError, match=r"summary\.json cannot be read: it is no"):
        _summary(found)
