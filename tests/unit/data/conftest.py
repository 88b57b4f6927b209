from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mpi4py import MPI

from pmgt_mpi.data.rows import Rows
from pmgt_mpi.mpi.collective import Collective

FLOAT64 = np.dtype(np.float64)


@pytest.fixture
def alone() -> Collective:
    """One agent."""
    return Collective(MPI.COMM_SELF)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep what tests unpack out of the user's cache."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("PMGT_CACHE", str(folder))
    return folder


@pytest.fixture
def read(alone: Collective, tmp_path: Path) -> Callable[..., Rows]:
    """``read(source, start, stop)``: rows of a table opened by one agent."""

    def read_range(
        source: Any,
        start: int = 0,
        stop: int | None = None,
        *,
        seed: int = 0,
        dtype: Any = np.float64,
        owned: bool = False,
    ) -> Rows:
        table = source.open(alone, base=tmp_path, seed=np.random.SeedSequence(seed))
        stop = table.length if stop is None else stop
        return table.read(start, stop, np.dtype(dtype), owned=owned)

    return read_range
