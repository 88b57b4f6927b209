"""The labels of a shard, as a problem needs them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.data.shard import Shard
from pmgt_mpi.errors import UserError
from pmgt_mpi.mpi.collective import Collective

Array = NDArray[Any]

SHOWN = 10
"""How many label values a message lists."""


def labels_of(shard: Shard, problem: str) -> Array:
    """Return the labels, or say that the data have none."""
    if shard.labels is None:
        raise UserError(
            f"problem '{problem}' needs a label for each row, and the data have none; "
            "set [data] label_column, or use a source with labels (libsvm)"
        )
    return shard.labels


def signs_of(
    shard: Shard, collective: Collective, problem: str, positive: float | None
) -> Array:
    """Map the labels to ±1: `positive`, or the larger of two values, is +1.

    Which values there are is agreed by all agents: a shard may hold only one.
    """
    labels = labels_of(shard, problem)
    # One more than is shown tells that there are more; a column of real numbers
    # taken for labels must not travel whole.
    own = np.unique(labels)[: SHOWN + 1]
    if positive is not None and positive in labels:
        own = np.union1d(own, [positive])
    found = np.unique(np.concatenate(collective.gather(own)))
    names = ", ".join(f"{value:g}" for value in found[:SHOWN])
    names += ", …" if len(found) > SHOWN else ""
    if positive is not None:
        if positive not in found or len(found) < 2:
            raise UserError(
                f"[problem] positive = {positive:g}: expected one of at least two "
                f"label values, and the data have {names}"
            )
        return np.where(labels == positive, 1.0, -1.0)
    if len(found) != 2:
        raise UserError(
            f"problem '{problem}' needs two label values, and the data have {names}; "
            "set [problem] positive to the label that is to stand against the rest"
        )
    return np.where(labels == found[1], 1.0, -1.0)
