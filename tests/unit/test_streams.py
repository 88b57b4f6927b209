"""Random streams: derived from seed and purpose, indices uniform."""

from __future__ import annotations

import json

import numpy as np

from pmgt_mpi.streams import BLOCK, IndexStream, stream


def test_streams_of_other_purposes_or_keys_differ_and_repeat() -> None:
    def first(*key):
        return stream(*key).integers(1 << 60)

    keys = [(1, "a", 0), (1, "a", 1), (1, "b", 0), (2, "a", 0), (1, "a", 1, 0)]
    assert len({first(*key) for key in keys}) == len(keys)
    assert [first(*key) for key in keys] == [first(*key) for key in keys]


def test_indices_are_drawn_with_replacement_over_all_rows() -> None:
    indices = IndexStream(stream(1, "indices"), 10)
    drawn = np.concatenate([indices.draw(7) for _ in range(3 * BLOCK // 7)])
    counts = np.bincount(drawn, minlength=10)
    assert len(counts) == 10
    assert abs(counts / len(drawn) - 0.1).max() < 0.01
    # Within 7 of 10 a repetition is near certain if they are replaced.
    assert any(len(set(indices.draw(7))) < 7 for _ in range(50))


def test_a_batch_larger_than_the_block_is_drawn_whole() -> None:
    assert len(IndexStream(stream(1, "indices"), 3).draw(BLOCK + 5)) == BLOCK + 5


def test_a_stream_continues_from_anywhere_inside_a_block() -> None:
    """Through JSON, as a checkpoint keeps it."""
    for draws in (0, 1, 5, BLOCK // 7, BLOCK // 7 + 1, BLOCK // 7 + 3):
        whole = IndexStream(stream(1, "indices"), 10)
        for _ in range(draws):
            whole.draw(7)
        text = json.dumps(whole.snapshot())
        other = IndexStream(stream(2, "another"), 10)
        other.draw(3)
        other.restore(json.loads(text))
        for b in (7, 2, 9, BLOCK + 1, 5):
            np.testing.assert_array_equal(other.draw(b), whole.draw(b))
        assert json.dumps(other.snapshot()) == json.dumps(whole.snapshot())
