"""The data of all agents as one array, and how hard its draws are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from experiment import COLUMNS, ROWS
from mpi4py import MPI
from numpy.typing import NDArray

from pmgt_mpi.data.loading import load_shard
from pmgt_mpi.data.sources.bernoulli import Bernoulli
from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.streams import seed_sequence

Array = NDArray[Any]


def table(seed: int) -> Array:
    """The whole data set."""
    shard = load_shard(
        Collective(MPI.COMM_SELF),
        Bernoulli(rows=ROWS, columns=COLUMNS),
        base=Path(),
        partition="contiguous",
        scale="none",
        layout="dense",
        shares=None,
        seed=seed_sequence(seed, "data"),
        dtype="float64",
    )
    return np.ascontiguousarray(shard.A)


def conditions() -> dict[int, float]:
    """Condition number at r = 2 of the data of seeds 0 to 9."""
    found = {}
    for seed in range(10):
        A = table(seed)
        values = np.linalg.eigvalsh(A.T @ A / ROWS)
        sigma = (values[-1] - values[-2]) / 2
        found[seed] = float((values[-1] + sigma - values[0]) / sigma)
    return found


def lower_median(kappas: dict[int, float]) -> int:
    """The seed that is neither an easy nor a hard draw of the eigengap."""
    return sorted(kappas, key=lambda seed: kappas[seed])[(len(kappas) - 1) // 2]
