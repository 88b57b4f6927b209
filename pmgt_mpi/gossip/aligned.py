"""Rows of numbers for messages, each at the start of a cache line."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

LINE = 64
"""Bytes of a cache line, or a multiple of it."""


def aligned_rows(rows: int, size: int, dtype: DTypeLike) -> NDArray[Any]:
    """Return rows of zeros that all start at multiples of `LINE`, on every agent.

    Where two processes of a host trade long vectors, the kernel copies from one's row
    to the other's. Some processors do that at a third of their speed if the rows'
    places within a page differ by 16 bytes, as those of two arrays may by chance.
    """
    dtype = np.dtype(dtype)
    in_line = LINE // dtype.itemsize
    stride = -(-size // in_line) * in_line
    room = np.zeros(rows * stride + in_line, dtype)
    start = -room.ctypes.data % LINE // dtype.itemsize
    return room[start : start + rows * stride].reshape(rows, stride)[:, :size]
