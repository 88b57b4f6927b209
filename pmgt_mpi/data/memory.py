"""Memory that no machine has: refused before it is asked for."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import DTypeLike


def lacking(numbers: int, dtype: DTypeLike) -> str:
    """Tell by how much an array is larger than all the memory of this machine, or "".

    What is free at the moment does not count: what is refused once always is. An array
    that is too much only beside others passes.

    Parameters
    ----------
    numbers
        How many numbers it is to hold.
    """
    needed = numbers * np.dtype(dtype).itemsize
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if needed <= memory:
        return ""
    from decimal import Decimal  # seldom needed; a float ends at 1e308

    gigabytes = [short(Decimal(count) / 10**9) for count in (needed, memory)]
    return "{} GB, and this machine has {} GB".format(*gigabytes)


def short(number: Any) -> str:
    """Write a number for people, with an exponent if it is long."""
    from decimal import Decimal

    return f"{number:,.0f}" if 10 <= number < 10**15 else f"{Decimal(number):.3g}"
