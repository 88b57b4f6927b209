"""Tests inside a communicator: ``mpirun -n 4 python -m pytest --with-mpi tests/mpi``.

Every rank runs the same tests in the same order. After the set-up, the call and the
teardown of each, the agents tell each other how it went, so that a test fails on all
ranks if it fails on one, and agent 0's report holds what went wrong elsewhere. If one
has failed and the others do not come (they wait for a message that will never be sent),
it writes its report and ends the job. Agent 0 alone writes to the terminal.
"""

from __future__ import annotations

import atexit
import faulthandler
import os
import shutil
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Generator, Iterator
from typing import Any

import pytest
from mpi4py import MPI

from pmgt_mpi.mpi.collective import Collective
from tests.support.meeting import AbsentError, Meeting, Place
from tests.support.verdicts import OUTCOMES, Together, judge, settle

GRACE = 5.0
"""Seconds that an agent whose test has failed waits for the others."""
PATIENCE = 45.0
"""Seconds that an agent whose test went well waits for the others."""
END = sys.maxsize
"""The meeting at the end of a phase comes after all those inside it."""

meeting = Meeting(MPI.COMM_WORLD)


class Session:
    """Where this agent is, and how it speaks past pytest's capture."""

    place: Place = (-1, 0, 0)
    config: pytest.Config
    failed_modules: list[str]

    def __init__(self) -> None:
        self.failed_modules = []

    def meet(self, place: Place, word: Any, error: BaseException | None) -> list[Any]:
        """Exchange words at a place; if the others do not come, end the job."""
        self.place = place
        try:
            return meeting.exchange(place, word, PATIENCE if error is None else GRACE)
        except AbsentError as absent:
            lines = [f"agent {meeting.agent}: {absent}; the job is ended\n"]
            if error is not None:
                lines += traceback.format_exception(error)
            self.speak("".join(lines))
            MPI.COMM_WORLD.Abort(1)
            raise

    def meet_inside(self, word: Any, error: BaseException | None) -> list[Any]:
        """Exchange words in the middle of a phase."""
        test, phase, number = self.place
        return self.meet((test, phase, number + 1), word, error)

    def speak(self, text: str) -> None:
        """Write to the real standard error."""
        capture = self.config.pluginmanager.get_plugin("capturemanager")
        if capture is not None:
            capture.suspend_global_capture(in_=True)
        os.write(2, text.encode())
        time.sleep(0.2)  # mpirun drops what it has not read when the job is ended


session = Session()


@pytest.fixture
def comm() -> Iterator[MPI.Intracomm]:
    """Return a communicator for this test alone: a duplicate of the world."""
    duplicate = MPI.COMM_WORLD.Dup()
    yield duplicate
    duplicate.Free()


@pytest.fixture
def collective(comm: MPI.Intracomm) -> Collective:
    return Collective(comm)


@pytest.fixture
def together() -> Together:
    """``with together:`` local asserts; at the end all agents fail, or none."""
    return Together(session.meet_inside)


def run_phase(item: pytest.Item, phase: int) -> Generator[None, None, None]:
    """Run one phase of a test and make its outcome the same for all agents."""
    test = session.place[0] + (phase == 0)
    session.place = (test, phase, 0)
    error: BaseException | None = None
    try:
        yield
    except OUTCOMES as raised:
        error = raised
    verdicts = session.meet((test, phase, END), judge(item, error), error)
    settle(error, meeting.agent, verdicts)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, None, None]:
    yield from run_phase(item, 0)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    yield from run_phase(item, 1)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, None, None]:
    yield from run_phase(item, 2)


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Let agent 0 alone write the report file; each agent has temporary folders.

    In one shared folder an agent would remove another's.
    """
    session.config = config
    if meeting.agent != 0:
        config.option.xmlpath = None
    if config.option.basetemp is None:
        config.option.basetemp = tempfile.mkdtemp(prefix=f"pmgt-{meeting.agent}-")
        atexit.register(shutil.rmtree, config.option.basetemp, ignore_errors=True)


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Let agent 0 alone write to the terminal."""
    if meeting.agent != 0:
        config.pluginmanager.unregister(name="terminalreporter")


def pytest_collectreport(report: pytest.CollectReport) -> None:
    if report.failed:
        session.failed_modules.append(report.longreprtext)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Check that all agents are in one world and are about to run the same tests."""
    if not (config.getoption("--with-mpi") or config.getoption("--only-mpi")):
        raise pytest.UsageError(
            "these tests run inside a communicator: "
            "mpirun -n 4 python -m pytest --with-mpi tests/mpi"
        )
    asked = os.environ.get("OMPI_COMM_WORLD_SIZE") or os.environ.get("PMI_SIZE")
    if asked and int(asked) != meeting.agents:
        raise pytest.UsageError(
            f"the launcher started {asked} ranks, but the world has {meeting.agents}: "
            "mpirun and mpi4py belong to different MPIs"
        )
    for item in items:
        if item.get_closest_marker("mpi") is None:
            item.add_marker("mpi")
    word = ([item.nodeid for item in items], session.failed_modules)
    words = session.meet((-1, 0, END), word, None)
    for agent, (tests, errors) in enumerate(words):
        if errors and not session.failed_modules:
            raise pytest.UsageError(f"agent {agent}: " + "\n".join(errors))
        if tests != words[0][0] and not errors:
            differing = sorted(set(tests) ^ set(words[0][0])) or ["their order"]
            raise pytest.UsageError(
                f"agents 0 and {agent} have collected different tests: "
                + ", ".join(differing[:3])
            )


def pytest_internalerror(excrepr: object) -> None:
    session.speak(f"agent {meeting.agent}: pytest failed\n{excrepr}\n")
    MPI.COMM_WORLD.Abort(1)


def pytest_timeout_set_timer(item: pytest.Item, settings: Any) -> bool:
    """At a test's time limit let every agent show where it stands; then end the job.

    A signal's handler would not run while its rank sits in MPI; this thread does.
    """

    def expire() -> None:
        name = f"agent {meeting.agent}: {item.nodeid}"
        session.speak(f"{name} not done after {settings.timeout:g} s; it stands here\n")
        faulthandler.dump_traceback(file=2)
        time.sleep(1.0)  # for the other agents to do the same
        os._exit(1)

    timer = threading.Timer(settings.timeout, expire)
    timer.daemon = True
    timer.start()

    def cancel() -> None:
        timer.cancel()
        timer.join()

    item.cancel_timeout = cancel  # type: ignore[attr-defined]
    return True
