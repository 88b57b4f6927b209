"""A cost that is measured: its number is kept, and all that follows has its bits."""

from __future__ import annotations

import tomllib
from math import log2

from tests.support.resuming import resume
from tests.support.running import SMALL, Left, run_config

HEAD, _, _ = SMALL.partition("[[algorithm]]")
MEASURED = HEAD.replace("round_in_gradients = 100", 'round_in_gradients = "auto"')
MEASURED += '[[algorithm]]\nname = "pmgt-katyushax"\n'
COUNTS = ("step", "gradients", "rounds", "messages", "bytes")


def test_config_toml_and_a_resumed_run_have_the_number_and_the_bits(tmp_path):
    run_config(tmp_path, MEASURED, set=("stop.steps=3",)).expect(0)
    left = Left(tmp_path / "out")
    asked = tomllib.loads((left.path / "asked.toml").read_text())
    assert asked["cost"] == {"round_in_gradients": "auto"}
    text = (left.path / "config.toml").read_text()
    cost = tomllib.loads(text)["cost"]["round_in_gradients"]
    assert cost >= 1.0
    assert log2(cost).is_integer()

    whole = tmp_path / "whole"
    whole.mkdir()
    run_config(whole, text, set=("stop.steps=8",)).expect(0)
    resume(tmp_path, "--set", "stop.steps=8").expect(0)
    other = Left(whole / "out")
    texts = [(each.path / "config.toml").read_text() for each in (left, other)]
    assert texts[0] == texts[1]
    assert tomllib.loads(texts[0])["cost"]["round_in_gradients"] == cost
    for name, array in left.solution.items():
        assert other.solution[name].tobytes() == array.tobytes()
    for mine, theirs in zip(left.metrics, other.metrics, strict=True):
        assert [mine[name] for name in COUNTS] == [theirs[name] for name in COUNTS]
