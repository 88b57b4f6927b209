from __future__ import annotations

import pytest

from pmgt_mpi.data.partition import block_bounds, block_sizes
from pmgt_mpi.errors import UserError


@pytest.mark.parametrize(
    ("total", "agents", "sizes"),
    [
        (10, 1, [10]),
        (10, 2, [5, 5]),
        (10, 4, [3, 3, 2, 2]),
        (13, 7, [2, 2, 2, 2, 2, 2, 1]),
        (3, 3, [1, 1, 1]),
        (2, 3, [1, 1, 0]),
        (0, 2, [0, 0]),
    ],
)
def test_equal_blocks_give_the_first_ones_more(
    total: int, agents: int, sizes: list[int]
) -> None:
    assert block_sizes(total, agents) == sizes


def test_equal_shares_are_the_same_as_none() -> None:
    for total in range(1, 60):
        for agents in range(1, 12):
            shares = [0.1] * agents
            assert block_sizes(total, agents, shares) == block_sizes(total, agents)


def test_blocks_follow_the_shares() -> None:
    assert block_sizes(700, 4, [1, 2, 1, 3]) == [100, 200, 100, 300]
    # 10·(1, 2, 4)/7 = 1.43, 2.86, 5.71: the two largest remainders are rounded up.
    assert block_sizes(10, 3, [1, 2, 4]) == [1, 3, 6]


def test_nobody_gets_none_while_there_are_enough() -> None:
    assert block_sizes(4, 4, [1e-9, 1, 1, 1e9]) == [1, 1, 1, 1]
    assert block_sizes(100, 3, [1e-9, 1, 1]) == [1, 49, 50]


def test_blocks_add_up_and_are_off_by_less_than_one() -> None:
    shares = [3.7, 0.2, 11.0, 5.5, 0.9]
    for total in range(200, 300):
        sizes = block_sizes(total, 5, shares)
        assert sum(sizes) == total
        for size, share in zip(sizes, shares, strict=True):
            assert abs(size - total * share / sum(shares)) < 1


@pytest.mark.parametrize(
    "shares", [[1, 2], [1, 2, 3, 4], [1, 0, 1], [1, -1, 1], [1, float("inf"), 1]]
)
def test_wrong_shares_are_refused(shares: list[float]) -> None:
    with pytest.raises(UserError) as caught:
        block_sizes(10, 3, shares)
    assert str(caught.value) == (
        f"data.shares = {shares} for 3 agents; expected one positive number for each "
        "agent"
    )


def test_bounds_are_the_running_sums() -> None:
    assert block_bounds([3, 0, 2]) == [0, 3, 3, 5]
