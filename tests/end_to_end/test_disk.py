"""Disks that are full or read-only: a clear error, and nothing that was there lost."""

from __future__ import annotations

import contextlib
import shutil
import subprocess

import pytest

from tests.support.resuming import (
    LONG,
    assert_same,
    begin,
    checkpoint_number,
    resume,
    wait_for,
)
from tests.support.running import Left, run_config


@pytest.fixture
def disk(tmp_path):
    """A disk of 400 KB of its own."""
    path = tmp_path / "disk"
    path.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", str(path)]
    try:
        done = subprocess.run(command, capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("no program 'mount'")
    if done.returncode != 0:
        pytest.skip("mounting a disk of its own needs root rights")
    yield path
    subprocess.run(["umount", "--lazy", str(path)], check=True)


def error(result, code) -> str:
    """Return the one message of a job that failed."""
    result.expect(code)
    assert "Traceback" not in result.stdout + result.stderr
    lines = [s for s in result.stderr.splitlines() if s.startswith("pmgt_mpi: ")]
    assert len(lines) == 1, result
    return lines[0]


def test_a_full_disk_ends_the_run_which_continues_when_there_is_room(
    whole, tmp_path, disk
):
    with begin(disk) as job:
        wait_for(job, lambda: checkpoint_number(disk) >= 5)
        before = (disk / "out" / "metrics.jsonl").read_bytes()
        with contextlib.suppress(OSError):
            (disk / "filler").write_bytes(bytes(1 << 20))
        message = error(job.wait(20), 1)
    assert "No space left on device" in message
    assert f"continue with --resume {disk / 'out'}" in message
    assert (disk / "out" / "metrics.jsonl").read_bytes().startswith(before)
    assert [r["step"] for r in Left(disk / "out").metrics]  # every line is whole
    assert checkpoint_number(disk) >= 5

    assert "No space left" in error(resume(disk), 1)
    (disk / "filler").unlink()
    moved = tmp_path / "moved"
    shutil.copytree(disk, moved)
    assert "resuming" in resume(moved).expect(0).stdout
    assert_same(whole, moved / "out")


def test_a_read_only_disk_is_told(tmp_path, disk):
    run_config(disk, LONG, set=("stop.steps=25",)).expect(0)
    remount = ["mount", "-o", "remount,ro", str(disk)]
    subprocess.run(remount, check=True)
    more = ("--set", "stop.steps=60")
    message = error(resume(disk, *more), 2)
    assert "cannot open the run folder out: Read-only file system" in message
    work = tmp_path / "work"
    work.mkdir()
    result = run_config(work, LONG, out=str(disk / "new"))
    assert "Read-only file system; choose another with --out" in error(result, 2)
