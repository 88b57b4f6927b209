"""How many of N things each agent gets."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from pmgt_mpi.errors import UserError


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
