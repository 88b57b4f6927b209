"""The same bits whichever rank has which agent."""

from __future__ import annotations

import pytest

from tests.support.resuming import (
    assert_same,
    begin,
    checkpoint_number,
    resume,
    wait_for,
)
from tests.support.running import SMALL, Left, run_config

NETWORK = ("network.topology=random-regular", "network.degree=3", "stop.steps=4")


def test_any_placement_gives_the_same_bits(tmp_path):
    for out, placement in [
        ("as", '"none"'),
        ("auto", '"auto"'),
        ("mixed", "[0,3,5,1,4,2]"),
    ]:
        set_ = (*NETWORK, f"network.placement={placement}")
        run_config(tmp_path, SMALL, ranks=6, set=set_, out=out).expect(0)
    assert_same(tmp_path / "as", tmp_path / "mixed")
    assert_same(tmp_path / "as", tmp_path / "auto")
    across = Left(tmp_path / "mixed").meta["across_hosts"]
    assert across["edges"] == 0
    assert [one["bytes"] for one in across["algorithms"]] == [0, 0, 0, 0]


def test_a_run_continues_with_another_placement(tmp_path, whole):
    with begin(tmp_path, "--set", "network.placement=[0,2,1,3]") as job:
        wait_for(job, lambda: checkpoint_number(tmp_path) >= 3)
    resume(tmp_path, "--set", "network.placement=[0,3,2,1]").expect(0)
    assert_same(whole, tmp_path / "out")


@pytest.mark.parametrize(
    ("placement", "said"),
    [
        ("[0,0,1,2]", "every id from 0 to 3 once and 0 first"),
        ('"best"', "[network] (ring) placement = 'best': expected 'auto' or 'none'"),
    ],
)
def test_a_wrong_placement_is_refused(tmp_path, placement, said):
    set_ = (f"network.placement={placement}",)
    result = run_config(tmp_path, SMALL, set=set_).expect(2)
    assert said in result.stderr
