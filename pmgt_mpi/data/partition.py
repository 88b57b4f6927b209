"""Which row goes to which agent, and how many.

A partition returns each row's position in a new order of the whole data set; the agents
then get consecutive blocks of that order. Positions depend on the data and the seed
alone, and not on who has read which rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.data.rows import Rows
from pmgt_mpi.errors import UserError
from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.streams import ORDER, child

Array = NDArray[Any]

MOST_LABELS = 10_000
"""Different labels up to which by-label keeps a table of them on every agent."""


def block_sizes(
    total: int, agents: int, shares: Sequence[float] | None = None
) -> list[int]:
    """Cut `total` into blocks in proportion to the shares, by largest remainders.

    Equal shares give the first ``total % agents`` agents one more. While there are
    enough for all, nobody gets none.
    """
    if shares is None:
        each, more = divmod(total, agents)
        return [each + (agent < more) for agent in range(agents)]
    if len(shares) != agents or not all(0 < share < float("inf") for share in shares):
        raise UserError(
            f"data.shares = {list(shares)} for {agents} agents; expected one positive "
            "number for each agent"
        )
    from fractions import Fraction

    exact = [Fraction(share) for share in shares]
    whole = sum(exact)
    quotas = [total * share / whole for share in exact]
    sizes = [int(quota) for quota in quotas]
    remainders = [quota - size for quota, size in zip(quotas, sizes, strict=True)]
    by_remainder = sorted(range(agents), key=lambda agent: -remainders[agent])
    for agent in by_remainder[: total - sum(sizes)]:
        sizes[agent] += 1
    while total >= agents and 0 in sizes:
        sizes[sizes.index(max(sizes))] -= 1
        sizes[sizes.index(0)] += 1
    return sizes


def block_bounds(sizes: Sequence[int]) -> list[int]:
    """Return where the blocks begin, and where the last one ends."""
    return [0, *accumulate(sizes)]


def contiguous(
    collective: Collective, rows: Rows, sizes: list[int], seed: np.random.SeedSequence
) -> None:
    """Leave the rows in the order of the file, and where they are.

    Parameters
    ----------
    rows
        What this agent has read.
    sizes
        How many rows each agent has read; they follow each other in this order.
    seed
        Root of the data's streams.
    """
    del collective, rows, sizes, seed


def shuffled(
    collective: Collective, rows: Rows, sizes: list[int], seed: np.random.SeedSequence
) -> Array:
    """Put all rows in a random order, which depends on the seed and N alone.

    Agent 0 draws it, in 4 bytes a row, and sends each agent its part.
    """
    del rows
    total = sum(sizes)
    kind = np.uint32 if total <= np.iinfo(np.uint32).max else np.uint64
    order = None
    if collective.agent == 0:
        order = np.arange(total, dtype=kind)
        child(seed, ORDER).shuffle(order)
    own = np.empty(sizes[collective.agent], kind)
    collective.comm.Scatterv([order, sizes] if order is not None else None, own, root=0)
    return own.astype(np.int64)


def by_label(
    collective: Collective, rows: Rows, sizes: list[int], seed: np.random.SeedSequence
) -> Array:
    """Sort all rows by their labels; those of one label stay in the order of the file.

    So an agent sees few classes: the most heterogeneous shards that there are.
    """
    del sizes, seed
    labels = rows.labels
    with collective.agreed():
        if labels is None:
            raise UserError(
                "data.partition = 'by-label' needs labels, and the data have none; "
                "give them (label_column, labels) or take another partition"
            )
        own, counts = np.unique(labels, return_counts=True)
        if len(own) > MOST_LABELS:
            raise UserError(
                f"data.partition = 'by-label' found more than {MOST_LABELS} different "
                "labels; it is meant for classes, take 'shuffled' or 'contiguous'"
            )
    tables = collective.gather((own, counts))
    every = np.unique(np.concatenate([table[0] for table in tables]))
    count = np.zeros((len(tables), len(every)), np.int64)
    for agent, (values, number) in enumerate(tables):
        count[agent, np.searchsorted(every, values)] = number
    # Before the first of a label here: all smaller labels, then the same on agents
    # before this one.
    of_label = count.sum(axis=0)
    first = np.cumsum(of_label) - of_label + count[: collective.agent].sum(axis=0)
    order = np.argsort(labels, kind="stable")
    place = np.searchsorted(every, own)
    within = np.arange(len(order)) - np.repeat(np.cumsum(counts) - counts, counts)
    positions = np.empty(len(order), np.int64)
    positions[order] = np.repeat(first[place], counts) + within
    return positions
