"""Files of a checkpoint: the same bits back, and no damage that is not found."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, fields, make_dataclass, replace
from typing import Any

import numpy as np
import pytest

from pmgt_mpi.checkpoints import statefile
from pmgt_mpi.checkpoints.statefile import DamagedError, flatten, rebuild
from pmgt_mpi.errors import UserError


@dataclass(frozen=True)
class State:
    k: int
    far: int
    on: bool
    half: float
    none: None
    single: Any
    x: np.ndarray
    same: np.ndarray
    table: np.ndarray
    turned: np.ndarray
    empty: np.ndarray
    counts: np.ndarray


def state() -> State:
    x = np.array([0.1, -0.0, np.nan, 1e-320, np.inf])
    return State(
        k=3,
        far=1 << 127,
        on=True,
        half=math.nan,
        none=None,
        single=np.float32(0.1),
        x=x,
        same=x,
        table=np.arange(12, dtype=np.float32).reshape(4, 3),
        turned=np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        empty=np.empty((0, 3)),
        counts=np.arange(4),
    )


def test_a_state_comes_back_with_every_bit_type_and_order(tmp_path):
    before = state()
    seal = statefile.write(tmp_path / "a.state", *flatten(before))
    assert [file.name for file in tmp_path.iterdir()] == ["a.state"]
    after = rebuild(before, *statefile.read(tmp_path, seal))
    for field in fields(State):
        old, new = getattr(before, field.name), getattr(after, field.name)
        assert type(old) is type(new), field.name
        if isinstance(old, np.ndarray):
            assert old.dtype == new.dtype
            assert old.shape == new.shape
            assert old.tobytes("A") == new.tobytes("A")
            assert old.flags.f_contiguous == new.flags.f_contiguous
            assert new.flags.writeable
        elif isinstance(old, float):
            assert math.isnan(old) == math.isnan(new)
        else:
            assert old == new
    assert after.same is after.x, "what was one array is one array"


@dataclass
class Around:
    """A state that holds two others."""

    inner: State
    other: State
    x: np.ndarray


def test_states_within_a_state_come_back(tmp_path):
    inner = state()
    before = Around(inner, replace(inner, x=inner.x + 1, half=0.25), inner.x)
    seal = statefile.write(tmp_path / "a.state", *flatten(before))
    after = rebuild(before, *statefile.read(tmp_path, seal))
    assert isinstance(after.inner, State)
    assert after.x is after.inner.x is after.inner.same is after.other.same
    np.testing.assert_array_equal(after.other.x, before.other.x)
    assert (after.other.half, after.other.k) == (0.25, 3)


@pytest.mark.parametrize("value", [[1.0], {"a": 1}, object(), np.array([None])])
def test_what_is_no_array_or_number_is_refused(value):
    Other = make_dataclass("Other", ["x"])
    with pytest.raises(UserError, match="a state is a dataclass of arrays and numbers"):
        flatten(Other(value))
    with pytest.raises(UserError, match="tuple is not a dataclass"):
        flatten((1, 2))


def test_any_flipped_bit_and_any_cut_is_found(tmp_path):
    path = tmp_path / "a.state"
    seal = statefile.write(path, {"k": 1}, {"x": np.arange(5.0)})
    whole = path.read_bytes()
    for place in range(len(whole)):
        torn = bytearray(whole)
        torn[place] ^= 1 << (place % 8)
        path.write_bytes(torn)
        with pytest.raises(DamagedError, match="another checksum"):
            statefile.read(tmp_path, seal)
        path.write_bytes(whole[:place])
        with pytest.raises(DamagedError, match=f"has {place} bytes instead of"):
            statefile.read(tmp_path, seal)
    path.unlink()
    with pytest.raises(DamagedError, match="is missing"):
        statefile.read(tmp_path, seal)


def test_a_pickle_is_never_loaded(tmp_path):
    path = tmp_path / "a.state"
    with path.open("wb") as file:
        np.lib.format.write_array(file, np.array([object()]), allow_pickle=True)
    seal = statefile.write(tmp_path / "b.state", {}, {})
    digest = hashlib.blake2b(path.read_bytes(), digest_size=16).hexdigest()
    forged = seal._replace(file="a.state", bytes=path.stat().st_size, blake2b=digest)
    with pytest.raises(ValueError, match="allow_pickle=False"):
        statefile.read(tmp_path, forged)
