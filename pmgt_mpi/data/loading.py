"""From a source to this agent's shard: read, move, lay out, scale."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from pmgt_mpi.data import PARTITIONS, SCALINGS
from pmgt_mpi.data.exchange import exchange
from pmgt_mpi.data.files import reading
from pmgt_mpi.data.layout import Layout, laid_out, matrix
from pmgt_mpi.data.memory import lacking
from pmgt_mpi.data.partition import block_bounds, block_sizes
from pmgt_mpi.data.rows import Rows
from pmgt_mpi.data.shard import Shard
from pmgt_mpi.data.source import LineError, Source, Table
from pmgt_mpi.errors import UserError
from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.options import Positive


def load_shard(
    collective: Collective,
    source: Source,
    *,
    partition: str = "contiguous",
    scale: str = "none",
    layout: Layout = "auto",
    shares: Sequence[Positive] | None = None,
    base: Path | None = None,
    seed: int | np.random.SeedSequence = 0,
    dtype: DTypeLike = np.float64,
) -> Shard:
    """Load this agent's part of the data, on all agents together.

    Each agent reads a range of its own. The partition ``contiguous`` leaves it at that,
    the others move the rows to their owners in one exchange. The rows of a shard, and
    their order, depend on the data, the seed, m and the shares alone.

    Parameters
    ----------
    collective
        All agents.
    source
        Where the rows come from.
    partition
        One of PARTITIONS: ``contiguous`` (the order of the file), ``shuffled``, or
        ``by-label``.
    scale
        One of SCALINGS: ``none``, ``minmax`` (columns to [0, 1]), ``standard`` (columns
        to mean 0 and deviation 1) or ``unit`` (rows to norm 1).
    layout
        ``dense``, ``sparse`` (CSR), or ``auto``: as the source is.
    shares
        One number for each agent; shards are in proportion to them, else of equal size.
        Contiguous shards of plain text are in proportion by bytes, not by rows.
    base
        Folder that relative paths start from; None is the current folder.
    seed
        Root of the streams from which data and orders are drawn.
    dtype
        float64 or float32.
    """
    if not isinstance(seed, np.random.SeedSequence):
        seed = np.random.SeedSequence(seed)
    place = PARTITIONS.load(partition)
    rescale = SCALINGS.load(scale)
    table = source.open(collective, base=base, seed=seed)
    check_private(table, partition, shares)
    check_length(collective, table)
    owned = partition != "contiguous" or layout == "sparse"
    rows = read_own(collective, table, shares, np.dtype(dtype), owned=owned)
    sizes = collective.gather(len(rows))
    total = sum(sizes)
    check_enough(collective, table, sizes)
    rows.columns = agreed_columns(collective, table, rows)
    rows.positions = place(collective, rows, sizes, seed)
    if rows.positions is None and 0 in sizes:
        # Lines so long that a range of bytes holds none: even out by rows.
        first = sum(sizes[: collective.agent])
        rows.positions = np.arange(first, first + len(rows))
    if rows.positions is not None:
        rows = exchange(collective, rows, block_sizes(total, collective.agents, shares))
    if layout == "dense" and rows.sparse:
        with collective.agreed():
            check_dense(rows)
    rows = laid_out(rows, layout, owned=owned)
    rescale(collective, rows, total)
    return Shard(matrix(rows), rows.labels, total, collective.agents)


def check_private(table: Table, partition: str, shares: Sequence[float] | None) -> None:
    """Refuse to move rows that lie with their agents."""
    if table.private and (partition != "contiguous" or shares is not None):
        raise UserError(
            "with {agent} in data.path each agent keeps the rows of its own file; "
            "expected data.partition = 'contiguous' and no data.shares"
        )


def check_length(collective: Collective, table: Table) -> None:
    """Refuse a file that not all agents see in the same state."""
    lengths = collective.gather(table.length)
    other = next((n for n in lengths if n != lengths[0]), None)
    if not table.private and other is not None:
        raise UserError(
            f"{collective.from_first(table.name)} has length {lengths[0]:,} for agent "
            f"0 and {other:,} for agent {lengths.index(other)}; expected the same file "
            "on every host, and none that is still written to"
        )


def read_own(
    collective: Collective,
    table: Table,
    shares: Sequence[float] | None,
    dtype: np.dtype[Any],
    *,
    owned: bool,
) -> Rows:
    """Read this agent's range; a line that cannot be used is named by its number."""
    bounds = [0, table.length]
    if not table.private:
        ranges = block_bounds(block_sizes(table.length, collective.agents, shares))
        bounds = ranges[collective.agent : collective.agent + 2]
    rows = Rows(columns=0)
    problem: UserError | LineError | None = None
    try:
        with reading(table.name):
            rows = table.read(bounds[0], bounds[1], dtype, owned=owned)
    except (UserError, LineError) as error:
        problem = error
    # The first agent that fails knows its line: all before it have read theirs.
    lines = [0] if table.private else collective.gather(rows.lines)[: collective.agent]
    with collective.agreed():
        if isinstance(problem, LineError):
            line = sum(lines) + problem.line
            raise UserError(f"{table.name}, line {line}: {problem.what}")
        if problem is not None:
            raise problem
    return rows


def check_enough(collective: Collective, table: Table, sizes: list[int]) -> None:
    """Refuse data that do not go round."""
    with collective.agreed():
        if table.private and sizes[collective.agent] == 0:
            raise UserError(
                f"{table.name} has no rows; expected at least one for each agent"
            )
    if sum(sizes) < collective.agents:
        raise UserError(
            f"{collective.from_first(table.name)} has {sum(sizes)} rows for "
            f"{collective.agents} agents; each needs at least one: start fewer ranks"
        )


def check_dense(rows: Rows) -> None:
    """Refuse CSR rows that no memory can hold as a matrix."""
    assert rows.values is not None
    if lack := lacking(len(rows) * rows.columns, rows.values.dtype):
        raise UserError(
            f"data.layout = 'dense' makes one agent's {len(rows):,} rows of "
            f"{rows.columns:,} columns {lack}; take 'sparse' or 'auto'"
        )


def agreed_columns(collective: Collective, table: Table, rows: Rows) -> int:
    """Return d: of dense rows it must be the same for all, of CSR rows the largest."""
    found = collective.gather((rows.columns, table.name))
    columns: int = max(width for width, _ in found)
    for width, name in found:
        if not rows.sparse and width != found[0][0]:
            raise UserError(
                f"{name} has {width} columns, but {found[0][1]} has {found[0][0]}; "
                "expected the same number in the files of all agents"
            )
    if columns == 0:
        raise UserError(f"{found[0][1]} has no columns; expected at least one feature")
    return columns
