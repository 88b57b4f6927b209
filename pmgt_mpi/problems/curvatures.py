"""Random rows made curvatures that lie in a given interval and have a given mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.data.shard import Shard
from pmgt_mpi.errors import UserError
from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.mpi.leader import led_by_first

Array = NDArray[Any]

BLOCK = 4096
"""Rows that are worked on at once."""

NEWTON_STEPS = 200
"""Steps at most; ten are usual."""


def curvatures(
    shard: Shard, collective: Collective, mean: Array, low: float, high: float
) -> Array:
    """Map every column of the rows to [low, high], with a given mean; collective.

    A column, scaled to u in [0, 1] by the smallest and the largest entry of all
    agents' rows, becomes low + (high − low) u^γ. Both ends are attained whatever γ is,
    and γ is chosen so that the mean over all rows is the one asked for. So the
    curvatures are as random, and differ as much between agents, as the data do.

    Parameters
    ----------
    shard
        The agent's rows, dense; they are left as they are.
    mean
        One number a column.
    """
    logs = logs_of_unit_columns(shard, collective)
    target = (mean - low) / (high - low)
    check_possible(logs, shard.total_rows, collective, target, mean, (low, high))
    gamma = led_by_first(
        collective,
        lambda gamma: collective.sum(moments(logs, gamma)) / shard.total_rows,
        lambda ask: exponents(ask, target),
    )
    for block in blocks(logs):
        np.multiply(block, gamma, out=block, casting="same_kind")
        np.exp(block, out=block)
        block *= high - low
        block += low
    return logs


def logs_of_unit_columns(shard: Shard, collective: Collective) -> Array:
    """log u, a new array: −∞ at a column's smallest entry, 0 at its largest."""
    A: Array = shard.A
    bottom, top = collective.min(A.min(axis=0)), collective.max(A.max(axis=0))
    flat = np.flatnonzero(top <= bottom)
    if flat.size:
        raise UserError(
            f"problem 'indefinite-quadratic' makes curvatures of the columns, and "
            f"column {flat[0]} has the same number in all rows; use data whose "
            "columns vary, such as the source 'gaussian'"
        )
    logs = A - bottom
    logs /= top - bottom
    with np.errstate(divide="ignore"):
        np.log(logs, out=logs)
    return logs


def check_possible(
    logs: Array,
    total: int,
    collective: Collective,
    target: Array,
    mean: Array,
    ends: tuple[float, float],
) -> None:
    """Refuse columns that have their ends so often that no γ gives the mean."""
    counts = np.array([np.isneginf(logs).sum(axis=0), (logs == 0).sum(axis=0)])
    at_low, at_high = collective.sum(counts)
    for k in np.flatnonzero(
        (total * target <= at_high) | (total - at_low <= total * target)
    ):
        raise UserError(
            f"problem 'indefinite-quadratic' cannot give column {k} curvatures in "
            f"[{ends[0]:g}, {ends[1]:g}] with the mean {mean[k]:.3g}: of {total} rows "
            f"{at_low[k]} have its smallest entry and {at_high[k]} its largest; use "
            "more rows, data with more different numbers (the source 'gaussian'), or "
            "other l1 and l2"
        )


def moments(logs: Array, gamma: Array) -> Array:
    """Σ_j u_j^γ and Σ_j u_j^γ log u_j over the agent's rows, for each column.

    γ = 0 stands for its limit from above, in which 0^γ = 0.
    """
    total = np.zeros((2, logs.shape[1]))
    for block in blocks(logs):
        finite = np.isfinite(block)
        powers = np.where(finite, block, 0.0).astype(np.float64, copy=False)
        slopes = powers.copy()
        powers *= gamma
        np.exp(powers, out=powers)
        powers *= finite
        slopes *= powers
        total += [powers.sum(axis=0), slopes.sum(axis=0)]
    return total


def exponents(ask: Callable[[Array], Array], target: Array) -> Array:
    """Solve mean(u^γ) = target for each column, by Newton's method from γ = 0.

    log mean(u^γ) falls and is convex in γ, so that no step passes the solution. Their
    convergence is quadratic: after a step of 1e-10 γ there is rounding alone.
    """
    gamma = np.zeros_like(target)
    for _ in range(NEWTON_STEPS):
        mean, slope = ask(gamma)
        step = np.log(mean / target) * mean / -slope
        gamma = gamma + step
        if np.all(np.abs(step) <= 1e-10 * gamma):
            break
    return gamma


def blocks(A: Array) -> list[Array]:
    """Views of a few rows each."""
    return [A[start : start + BLOCK] for start in range(0, len(A), BLOCK)]
