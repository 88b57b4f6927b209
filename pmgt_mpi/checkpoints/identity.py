"""What makes two runs the same: what a run that continues is held against."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.checkpoints.statefile import Numbers
from pmgt_mpi.graphs.neighbourhood import Neighbourhood
from pmgt_mpi.mpi.collective import Collective

Array = NDArray[Any]


def facts(
    collective: Collective, here: Neighbourhood, data: str, x0: Array, engine: str
) -> Numbers:
    """What a run is made of, as fingerprints; collective.

    Parameters
    ----------
    here, data, x0
        This agent's row of W, the fingerprint of its rows, and where it starts.
    engine
        What runs the rounds.
    """
    row = hashlib.blake2b(digest_size=16)
    row.update(repr((here.neighbours, here.own_weight)).encode())
    row.update(np.ascontiguousarray(here.weights, float).data)
    words = collective.gather((row.hexdigest(), data))
    return {
        "agents": collective.agents,
        "network": [word[0] for word in words],
        "data": [word[1] for word in words],
        "engine": engine,
        "start": hashlib.blake2b(x0.tobytes(), digest_size=16).hexdigest(),
    }


NAMES = {
    "agents": "the number of ranks",
    "network": "the graph or its weights W",
    "data": "the data",
    "engine": "the engine",
    "start": "the starting point",
}


def differing_facts(before: Numbers, now: Numbers) -> list[str]:
    """Name what differs between the facts of two runs."""
    differences = []
    for key in dict.fromkeys([*before, *now]):
        old, new = before.get(key), now.get(key)
        if old == new:
            continue
        name = NAMES.get(key, key)
        if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
            agents = [i for i in range(len(old)) if old[i] != new[i]]
            differences.append(
                f"{name} of agent {agents[0]} differ from what they were"
            )
        elif isinstance(old, list | None) or key == "start":
            differences.append(f"{name} differ from what they were")
        else:
            differences.append(f"{name} is {new}, and was {old}")
    return differences


def machine() -> Numbers:
    """CPU and libraries of this agent: others may give other last bits."""
    build: Any = np.show_config(mode="dicts")
    blas = build.get("Build Dependencies", {}).get("blas", {})
    return {
        "CPU": _cpu(),
        "BLAS": f"{blas.get('name', '?')} {blas.get('version', '?')}",
        "numpy": np.__version__,
        "C library": _c_library(),
    }


def _c_library() -> str:
    """Where exp, log and their like come from."""
    try:
        return os.confstr("CS_GNU_LIBC_VERSION") or "unknown"
    except (AttributeError, OSError, ValueError):
        return "unknown"  # another C library than glibc has no such name


def _cpu() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass  # not Linux: platform.processor() is empty on many systems too
    return "unknown"


def changed_machines(before: list[Numbers], now: list[Numbers]) -> list[str]:
    """Name what differs between the machines of two runs."""
    differences: dict[str, None] = {}
    for old, new in zip(before, now, strict=False):
        for key in dict.fromkeys([*old, *new]):
            if old.get(key) != new.get(key):
                differences[f"{key} is {new.get(key)}, and was {old.get(key)}"] = None
    return list(differences)
