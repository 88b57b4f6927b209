"""Rows for messages: each at the start of a cache line, with nothing but zeros."""

from __future__ import annotations

import numpy as np
import pytest

from pmgt_mpi.gossip.exchange import LINE, aligned_rows


@pytest.mark.parametrize("dtype", ["float64", "float32", "int16", "complex128"])
@pytest.mark.parametrize("size", [1, 7, 8, 50, 5000])
@pytest.mark.parametrize("rows", [0, 1, 4])
def test_every_row_starts_a_line(rows, size, dtype):
    kept = [np.empty(n, np.uint8) for n in range(1, 200, 16)]  # moves what comes next
    made = aligned_rows(rows, size, dtype)
    assert made.shape == (rows, size)
    assert made.dtype == dtype
    assert not made.any()
    assert all(row.ctypes.data % LINE == 0 for row in made)
    assert all(row.flags.c_contiguous for row in made)
    made[...] = 1
    assert made.sum() == rows * size
    del kept
