"""What tests of whole jobs share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.resuming import LONG
from tests.support.running import run_config


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return what a run leaves that nobody interrupts, without a single checkpoint."""
    folder = tmp_path_factory.mktemp("whole")
    run_config(folder, LONG, set=("checkpoint.steps=0", "checkpoint.minutes=0")).expect(
        0
    )
    assert not (folder / "out" / "checkpoint").exists()
    return folder / "out"
