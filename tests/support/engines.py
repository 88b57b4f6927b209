"""Both engines for tests inside a communicator."""

from __future__ import annotations

import pytest

from pmgt_mpi.execution.engine import Engine, choose_engine
from pmgt_mpi.mpi.collective import Collective

ENGINES = ("python", "compiled")

both_engines = pytest.mark.parametrize("engine", ENGINES)


def engine_of(comm, name: str) -> Engine:
    """The engine of that name on all ranks, or skip and say what it lacks."""
    engine = choose_engine(Collective(comm), "python" if name == "python" else "auto")
    if engine.name != name:
        pytest.skip(f"no compiled engine: {engine.why}")
    return engine
