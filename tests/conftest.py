"""What all tests share: which are collected where, data files, the last lines."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from pmgt_mpi.errors import UserError
from tests import launcher
from tests.support import tally

HERE = Path(__file__).parent
CONFORMANCE = (
    HERE / "unit" / "algorithms" / "test_methods.py",
    HERE / "mpi" / "conformance",
    HERE / "end_to_end" / "test_mpi_suites.py",
)
"""What every algorithm keeps to, and what starts the tests of it on several ranks."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--plugin",
        action="append",
        default=[],
        metavar="MODULE:CLASS",
        help="run the conformance suite over this algorithm of your own, nothing else",
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--with-mpi") and "tests.mpi.conftest" not in sys.modules:
        raise pytest.UsageError(
            "--with-mpi is for the tests inside a communicator; name their folder: "
            "mpirun -n 4 python -m pytest --with-mpi tests/mpi"
        )
    if addresses := config.getoption("--plugin"):
        from tests.support.methods import check_only

        try:
            check_only(addresses)
        except UserError as error:
            raise pytest.UsageError(f"--plugin: {error}") from None


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave tests/mpi to end_to_end/test_mpi_suites.py, which starts mpirun for it.

    With ``--plugin`` leave out all but the conformance suite.
    """
    inside = collection_path == HERE / "mpi"
    left_out = inside and not config.getoption("--with-mpi")
    if config.getoption("--plugin"):
        left_out |= not any(
            collection_path in (path, *path.parents) or path in collection_path.parents
            for path in CONFORMANCE
        )
    return True if left_out else None


@pytest.fixture
def needs_data() -> Callable[[str], Path]:
    """``needs_data("a9a.bz2")``: its path in the folder PMGT_DATA, or skip the test."""

    def find(name: str) -> Path:
        folder = os.environ.get("PMGT_DATA")
        if not folder:
            pytest.skip(f"PMGT_DATA is not set; it names the folder that holds {name}")
        path = Path(folder) / name
        if not path.is_file():
            pytest.skip(f"no file {name} in PMGT_DATA ({folder})")
        return path

    return find


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> Generator[None, None, None]:
    """Say after everything else how many tests met MPI, and what the others lacked."""
    yield
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None or session.config.getoption("--with-mpi"):
        return
    skipped = {}
    for report in reporter.stats.get("skipped", []):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else ""
        skipped[report.nodeid] = reason.removeprefix("Skipped: ")
    for line in tally.last_lines(launcher.started_by, skipped):
        reporter.write_line(line)
