"""Rows moved to their owners, once, at set-up, in bounded memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.data.partition import block_bounds
from pmgt_mpi.data.rows import GrowingRows, Rows
from pmgt_mpi.mpi.collective import Collective

Array = NDArray[Any]

SEND_BYTES = 1 << 22
"""Rows that an agent sends out at a time, to all others together."""

WINDOW_BYTES = 1 << 24
"""Rows that are put in order at a time. Smaller windows leave more freed memory with
the allocator, larger ones hold more at once: of 4, 16 and 32 MB this peaks lowest."""


def exchange(collective: Collective, rows: Rows, sizes: list[int]) -> Rows:
    """Move every row to the agent whose block of the new order has its position.

    The agents send their rows away from the last to the first, a few megabytes at a
    time, in pairwise rounds: in round k, agent i sends to i + k and receives from
    i − k. As what is sent is freed, an agent holds about one shard at any time.

    Parameters
    ----------
    rows
        This agent's rows, their arrays owned, with the `positions`; emptied.
    sizes
        How many rows each agent has in the end.
    """
    m, me = collective.agents, collective.agent
    bounds = np.array(block_bounds(sizes))
    held = collective.gather((len(rows), rows.entries, rows.nbytes))
    total, entries, nbytes = (sum(counts) for counts in zip(*held, strict=True))
    send_rows = max(1, SEND_BYTES * total // nbytes)
    window_rows = max(1, WINDOW_BYTES * total // nbytes)
    inbox = Inbox(rows, bounds[me : me + 2], window_rows, entries / total)
    for _ in range(-(-max(counts[0] for counts in held) // send_rows)):
        some = rows.pop(min(send_rows, len(rows)))
        some = some.take(np.argsort(some.placed))
        cuts = np.searchsorted(some.placed, bounds)
        for shift in range(m):
            to, source = (me + shift) % m, (me - shift) % m
            sent = some.part(cuts[to], cuts[to + 1])
            inbox.put(swap(collective.comm, sent, to, source) if shift else sent)
    return inbox.in_order()


def swap(comm: Any, rows: Rows, to: int, source: int) -> Rows:
    """Send rows to one agent and receive rows from another."""
    arrays = rows.arrays()
    sizes = np.array([len(array) for array in arrays.values()])
    incoming = np.empty_like(sizes)
    comm.Sendrecv(sizes, to, recvbuf=incoming, source=source)
    received = {}
    for (name, array), size in zip(arrays.items(), incoming, strict=True):
        received[name] = np.empty((size, *array.shape[1:]), array.dtype)
        comm.Sendrecv(array, to, recvbuf=received[name], source=source)
    return rows.with_arrays(received)


class Inbox:
    """The rows that an agent receives, and their final order.

    They come in any order, and are kept by windows of consecutive positions. In the end
    one window after another is put in order, appended to the result and freed.
    """

    def __init__(
        self, like: Rows, bounds: Array, window_rows: int, entries_per_row: float
    ) -> None:
        self._like = like.none()
        first, last = (int(bound) for bound in bounds)
        self._edges = [*range(first, last, window_rows), last]
        sizes = np.diff(self._edges)
        self._windows = [
            GrowingRows(self._like, int(n), int(n * entries_per_row)) for n in sizes
        ]

    def put(self, rows: Rows) -> None:
        """Keep rows that are sorted by their positions."""
        cuts = np.searchsorted(rows.placed, self._edges)
        for window, low, high in zip(self._windows, cuts[:-1], cuts[1:], strict=True):
            if high > low:
                window.append(rows.part(low, high))

    def in_order(self) -> Rows:
        """Return all rows by their positions, and keep none."""
        rows = self._edges[-1] - self._edges[0]
        entries = sum(window.entries for window in self._windows)
        result = GrowingRows(self._like, rows, entries)
        while self._windows:
            window = self._windows.pop(0).finish()
            result.append(window.take(np.argsort(window.placed)))
        ordered = result.finish()
        ordered.positions = None
        return ordered
