"""Rows that are drawn and not read: the same whatever the number of agents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.data.memory import lacking, short
from pmgt_mpi.data.rows import Rows
from pmgt_mpi.errors import UserError

Array = NDArray[Any]

BLOCK_NUMBERS = 1 << 18
"""Numbers in a block, 2 MB: it sets which stream a row is drawn from, for ever."""


def block_rows(columns: int) -> int:
    """Rows drawn from one stream; depends on d alone."""
    return max(1, BLOCK_NUMBERS // columns)


class SyntheticTable:
    """A table whose rows are drawn in fixed blocks, each from a stream of its own.

    An agent draws the blocks that its range touches, whole, and keeps its own rows.

    Parameters
    ----------
    draw
        Returns block number b: its ``block_rows(columns)`` rows, and labels or None.
    """

    private = False

    def __init__(
        self,
        name: str,
        rows: int,
        columns: int,
        draw: Callable[[int], tuple[Array, Array | None]],
        *,
        labelled: bool,
    ) -> None:
        self.name = name
        self.length = rows
        self._columns = columns
        self._draw = draw
        self._labelled = labelled

    def read(self, start: int, stop: int, dtype: np.dtype[Any], *, owned: bool) -> Rows:
        """Draw the rows of [start, stop)."""
        del owned  # they always are
        d = self._columns
        if lack := lacking((stop - start) * d, dtype):
            raise UserError(
                f"[data] rows = {short(self.length)} and columns = {short(d)} give "
                f"one agent {short(stop - start)} rows, {lack}; take fewer, or more "
                "machines"
            )
        A = np.empty((stop - start, d), dtype)
        labels = np.empty(stop - start, dtype) if self._labelled else None
        size = block_rows(d)
        for block in range(start // size, -(-stop // size) if stop > start else 0):
            first = block * size
            here = slice(max(start, first) - start, min(stop, first + size) - start)
            there = slice(here.start + start - first, here.stop + start - first)
            with np.errstate(over="ignore", invalid="ignore"):
                drawn, drawn_labels = self._draw(block)
                A[here] = drawn[there]
                finite = np.isfinite(A[here]).all()
                if labels is not None and drawn_labels is not None:
                    labels[here] = drawn_labels[there]
                    finite &= np.isfinite(labels[here]).all()
            if not finite:
                raise UserError(
                    f"[data] makes numbers that are not finite in {A.dtype}; take a "
                    "smaller spectrum, or less noise"
                )
        return Rows(columns=d, dense=A, labels=labels)
