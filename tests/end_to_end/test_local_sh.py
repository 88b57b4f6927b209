"""launch/local.sh on a clone with nothing installed: from zero to a run."""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import launcher

INSTALL_LIMIT = 240
NO_INDEX = ("No matching distribution", "Failed to establish", "Network is unreachable")

CONFIG = """
[run]
name = "from zero"
[network]
topology = "ring"
[data]
source = "bernoulli"
rows = 200
columns = 5
[problem]
kind = "shift-invert-pca"
[stop]
steps = 3
[[algorithm]]
name = "nids"
"""


def local_sh(root: Path, *arguments: str | Path) -> list[str]:
    return ["bash", str(root / "launch" / "local.sh"), *map(str, arguments)]


def installed(root: Path) -> list[str]:
    """Name the packages in .venv that were not there when it was made."""
    folders = root.glob(".venv/lib/python*/site-packages/*.dist-info")
    names = [folder.name.partition("-")[0] for folder in folders]
    return [name for name in names if name not in ("pip", "setuptools")]


def kill_in_the_middle(root: Path, config: Path) -> None:
    """Start an install and kill it when the first package has been written."""
    with launcher.start(local_sh(root, "-n", "2", config), cwd="/") as job:
        end = time.monotonic() + INSTALL_LIMIT
        while not installed(root):
            if not job.running() or time.monotonic() > end:
                if any(reason in job.stderr for reason in NO_INDEX):
                    pytest.skip("pip cannot reach an index of packages")
                pytest.fail(f"no install to interrupt:\n{job.stderr}")
            time.sleep(0.05)
        for pid in job.processes():
            os.kill(pid, signal.SIGKILL)


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return a copy of the repository, in a folder with a space, and never set up."""
    root = tmp_path_factory.mktemp("local") / "a clone"
    ignored = shutil.ignore_patterns(".*", "runs", "__pycache__", "tests", "docs")
    shutil.copytree(launcher.ROOT, root, ignore=ignored)
    yield root
    shutil.rmtree(root)  # half a gigabyte


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("configs") / "my config.toml"
    path.write_text(CONFIG)
    return path


@pytest.mark.timeout(2 * INSTALL_LIMIT)
def test_killed_install_is_repaired_and_the_next_start_is_quick(
    clone: Path, config: Path, tmp_path: Path
) -> None:
    kill_in_the_middle(clone, config)
    launcher.started_by.add(launcher.current_test())

    command = local_sh(clone, "-n", "2", config.name, "--out")
    first = launcher.run(
        [*command, str(tmp_path / "run 1")], cwd=config.parent, timeout=INSTALL_LIMIT
    )
    first.expect(0)
    assert "the last set-up did not finish; starting it over" in first.stderr
    summary = json.loads((tmp_path / "run 1" / "summary.json").read_text())
    assert [one["ranks"] for one in summary] == [2]

    second = launcher.run([*command, str(tmp_path / "run 2")], cwd=config.parent)
    second.expect(0)
    assert "pmgt_mpi: making" not in second.stderr
    assert "pmgt_mpi: installing" not in second.stderr
    assert second.seconds < 15

    wrong = [*command, str(tmp_path / "run 3"), "--set", "stop.stepz=1"]
    launcher.run(wrong, cwd=config.parent).expect(2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-n", "2"], "no config given; expected: -n RANKS CONFIG"),
        (["a.toml"], "how many ranks? Put -n RANKS before the config"),
        (["-n"], "-n needs a number of ranks"),
        (["-n", "0", "a.toml"], "-n 0: expected a whole number, 1 or more"),
        (["-n", "two", "a.toml"], "-n two: expected a whole number, 1 or more"),
        (["-x"], "unknown option '-x' before the config; valid: -n RANKS, --help"),
        (["-n", "2", "no such.toml"], "no config file 'no such.toml' (looked from /)"),
    ],
)
def test_wrong_arguments_are_refused_before_anything_is_made(
    arguments: list[str], message: str
) -> None:
    result = launcher.run(local_sh(launcher.ROOT, *arguments), cwd="/")
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.splitlines() == [
        f"local.sh: {message}",
        "Try: bash launch/local.sh --help",
    ]


def test_help_says_how_to_start() -> None:
    result = launcher.run(local_sh(launcher.ROOT, "--help"))
    assert result.returncode == 0
    assert "bash launch/local.sh -n 4 configs/quickstart.toml" in result.stdout
    assert result.stderr == ""
