"""What a program hands over in place of what a config names."""

from __future__ import annotations

from typing import Any, NamedTuple

from pmgt_mpi.regularizers.base import Regularizer


class Given(NamedTuple):
    """A program's own objects, in place of what a config names.

    Attributes
    ----------
    network, weights
        A networkx graph and W, each None where the config has it; on agent 0.
    source
        What the rows come from.
    rows, labels
        This agent's data.
    problem
        This agent's f_i, or a class that is made as ``Class(shard, collective)``.
    regularizer
        psi.
    x0
        Where all algorithms start.
    """

    network: Any = None
    weights: Any = None
    source: Any = None
    rows: Any = None
    labels: Any = None
    problem: Any = None
    regularizer: Regularizer | None = None
    x0: Any = None


NOTHING_GIVEN = Given()
