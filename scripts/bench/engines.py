"""The engines that are here, by name."""

from __future__ import annotations

from typing import Any

from pmgt_mpi.execution.engine import PYTHON, Engine, choose_engine
from pmgt_mpi.mpi.collective import Collective


def engines(comm: Any) -> dict[str, Engine]:
    """Python, and the compiled one where there is a compiler."""
    auto = choose_engine(Collective(comm), "auto")
    return {"python": PYTHON, auto.name: auto}
