"""Run the tests of tests/mpi inside communicators of several sizes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import launcher
from tests.support import tally

LIMIT = 600
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


@pytest.mark.timeout(LIMIT + 20)
@pytest.mark.parametrize("ranks", [1, 2, 4, 5])
def test_suite(ranks: int, tmp_path: Path, pytestconfig: pytest.Config) -> None:
    report = tmp_path / "report.xml"
    options = ["--with-mpi", "--timeout=60", "-p", "no:cacheprovider", "--color=no"]
    options += [f"--plugin={name}" for name in pytestconfig.getoption("--plugin")]
    result = launcher.mpirun(
        ranks,
        ["-m", "pytest", *options, f"--junitxml={report}", "tests/mpi"],
        timeout=LIMIT,
        env=ONE_THREAD,
    )
    launcher.started_by.discard(launcher.current_test())
    if result.returncode != 0 or result.survivors or not report.exists():
        pytest.fail(f"on {ranks} ranks:\n{result}", pytrace=False)
    suite = tally.Suite.read(report)
    tally.suites[ranks] = suite
    assert suite.ran, f"no test ran on {ranks} ranks:\n{result}"
    assert not suite.failed, str(result)
    silent = {name for name, why in suite.skipped.items() if "--with-mpi" in why}
    assert not silent, f"skipped in silence: {silent}"
