"""Folders of a run that the user of a job may not read: refused, and not empty."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import pmgt_mpi.config.read  # noqa: F401 (later it might not be readable)
from pmgt_mpi.checkpoints.earlier import folder_of, open_earlier
from pmgt_mpi.checkpoints.manifest import MANIFEST
from pmgt_mpi.checkpoints.store import FOLDER, complete
from pmgt_mpi.errors import UserError
from pmgt_mpi.output.looking import refuse_links

NOBODY = 65534


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A run with a checkpoint, seen by a user who is not root."""
    path = Path("run")
    monkeypatch.chdir(tmp_path)
    here = path / FOLDER / "000001"
    here.mkdir(parents=True)
    for file in (here / MANIFEST, path / "metrics.jsonl", path / "config.toml"):
        file.write_text("x")
    for folder, _, files in os.walk(tmp_path):
        for name in ("", *files):
            os.chown(Path(folder) / name, NOBODY if os.getuid() == 0 else -1, -1)
    user = os.geteuid()
    if user == 0:
        os.seteuid(NOBODY)  # of the whole process, which stands in the folder already
    yield path
    os.seteuid(user)
    for folder in (path, path / FOLDER, here):
        folder.chmod(0o755)


def told(path: Path) -> str:
    return (
        f"{path} cannot be read: Permission denied; let the user of this job read it, "
        "or start a new run with another --out"
    )


def looked_at(run: Path) -> list[Path]:
    return list(complete(run))


@pytest.mark.parametrize(
    ("closed", "mode", "named"),
    [
        (FOLDER, 0o311, FOLDER),
        (FOLDER, 0o000, FOLDER),
        (f"{FOLDER}/000001", 0o000, f"{FOLDER}/000001"),
        (f"{FOLDER}/000001", 0o444, f"{FOLDER}/000001/{MANIFEST}"),
    ],
)
def test_a_checkpoint_folder_that_may_not_be_read_is_not_empty(
    run, closed, mode, named
):
    assert looked_at(run) == [run / FOLDER / "000001"]
    refuse_links(run)
    (run / closed).chmod(mode)
    with pytest.raises(UserError) as error:
        refuse_links(run)
    assert str(error.value) == told(run / named)
    if (closed, mode) == (f"{FOLDER}/000001", 0o000):
        named = f"{named}/{MANIFEST}"
    with pytest.raises(UserError) as error:
        looked_at(run)
    assert str(error.value) == told(run / named)


def test_where_nothing_was_saved_there_is_nothing(run):
    assert looked_at(run / "other") == []
    assert looked_at(run / FOLDER) == []


def test_a_run_folder_that_may_not_be_looked_into(run):
    run.chmod(0o444)
    with pytest.raises(UserError) as error:
        open_earlier(run, allow_plugins=False)
    assert str(error.value) == told(run / "meta.json")
    with pytest.raises(UserError) as error:
        folder_of("auto", run / "deeper", "run")
    assert str(error.value) == told(run / "deeper")


def test_a_version_that_may_not_be_read_is_not_this_one(run):
    (run / "meta.json").touch(0o000)
    with pytest.raises(UserError) as error:
        open_earlier(run, allow_plugins=False)
    assert str(error.value) == told(run / "meta.json")


def test_runs_that_may_not_be_listed_are_not_none(run):
    run.rename("runs")
    Path("runs").chmod(0o311)
    try:
        with pytest.raises(UserError) as error:
            folder_of("auto", None, "run")
        assert str(error.value) == told(Path("runs"))
    finally:
        Path("runs").rename(run)
