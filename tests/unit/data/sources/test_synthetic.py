from __future__ import annotations

import os
import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pmgt_mpi import streams
from pmgt_mpi.data.rows import Rows
from pmgt_mpi.data.sources import synthetic
from pmgt_mpi.data.sources.bernoulli import Bernoulli
from pmgt_mpi.data.sources.gaussian import Gaussian, falling
from pmgt_mpi.errors import UserError

Read = Callable[..., Rows]


def drawn(rows: Rows) -> np.ndarray:
    assert rows.dense is not None
    return rows.dense


def sources() -> list[Any]:
    return [
        Bernoulli(rows=103, columns=6),
        Gaussian(rows=103, columns=6, condition=9, labels="linear", heterogeneity=0.5),
        Gaussian(rows=103, columns=6, labels="sign", rotate=False),
    ]


@pytest.mark.parametrize("source", sources(), ids=["bernoulli", "linear", "sign"])
def test_a_row_is_the_same_whoever_draws_it(
    source: Any, read: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(synthetic, "BLOCK_NUMBERS", 60)  # blocks of 10 rows
    whole = read(source)
    for cuts in ([0, 52, 103], [0, 1, 10, 20, 29, 29, 31, 103]):
        parts = [read(source, *cut) for cut in pairwise(cuts)]
        assert_array_equal(
            np.concatenate([drawn(part) for part in parts]), drawn(whole)
        )
        if whole.labels is not None:
            labels = [part.labels for part in parts if part.labels is not None]
            assert_array_equal(np.concatenate(labels), whole.labels)


@pytest.mark.parametrize("source", sources(), ids=["bernoulli", "linear", "sign"])
def test_only_the_blocks_of_the_range_are_drawn(
    source: Any, read: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(synthetic, "BLOCK_NUMBERS", 60)
    blocks: list[tuple[int, ...]] = []

    def child(seed: np.random.SeedSequence, *key: int) -> np.random.Generator:
        blocks.append(key)
        return streams.child(seed, *key)

    monkeypatch.setattr(f"{type(source).__module__}.child", child)
    read(source, 25, 41)
    assert [key[1] for key in blocks if len(key) == 2] == [2, 3, 4]
    blocks.clear()
    read(source, 30, 30)
    assert [key for key in blocks if len(key) == 2] == []


def test_a_longer_data_set_begins_like_a_shorter_one(read: Read) -> None:
    long = drawn(read(Bernoulli(rows=50_000, columns=50)))
    short = drawn(read(Bernoulli(rows=7_000, columns=50)))
    assert_array_equal(long[:7_000], short)


@pytest.mark.parametrize("source", sources(), ids=["bernoulli", "linear", "sign"])
def test_seeds_and_blocks_differ(
    source: Any, read: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(synthetic, "BLOCK_NUMBERS", 60)
    A = drawn(read(source, seed=1))
    assert not np.array_equal(A, drawn(read(source, seed=2)))
    assert not np.array_equal(A[:10], A[10:20])


def test_a_child_of_a_seed_is_another_stream(alone: Any) -> None:
    source = Bernoulli(rows=20, columns=20)
    seed = np.random.SeedSequence(1)
    tables = [
        source.open(alone, base=None, seed=s) for s in (seed, *seed.spawn(1), seed)
    ]
    A, B, C = (drawn(t.read(0, 20, np.dtype(np.float64), owned=False)) for t in tables)
    assert not np.array_equal(A, B)
    assert_array_equal(A, C)


def test_signs_are_fair_and_independent(read: Read) -> None:
    A = drawn(read(Bernoulli(rows=40_000, columns=50)))
    assert_array_equal(np.abs(A), 1)
    # Deviation of a mean of 40 000 signs: 0.005; 1275 of them are looked at.
    gram = A.T @ A / len(A)
    assert_array_equal(np.diagonal(gram), 1)
    assert np.abs(gram - np.eye(50)).max() < 0.025
    assert np.abs(A.mean(axis=0)).max() < 0.025


def test_data_of_many_columns_come_in_blocks_of_rows() -> None:
    assert synthetic.block_rows(50) == 5242
    assert synthetic.block_rows(10**6) == 1


def test_the_type_asked_for(read: Read) -> None:
    source = Gaussian(rows=10, columns=3, labels="linear")
    rows = read(source, dtype=np.float32)
    assert rows.labels is not None
    assert drawn(rows).dtype == rows.labels.dtype == np.float32
    assert_array_equal(drawn(rows), drawn(read(source)).astype(np.float32))


@pytest.mark.parametrize("h", [0.0, 1.0])
@pytest.mark.parametrize("rotate", [False, True])
def test_the_spectrum_is_the_one_asked_for(rotate: bool, h: float, read: Read) -> None:
    spectrum = [5.0, 2.0, 1.0, 0.3]
    A = drawn(
        read(
            Gaussian(
                rows=200_000,
                columns=4,
                spectrum=spectrum,
                rotate=rotate,
                heterogeneity=h,
            )
        )
    )
    gram = A.T @ A / len(A)
    assert_allclose(np.linalg.eigvalsh(gram)[::-1], spectrum, rtol=0.03)
    off_diagonal = np.abs(gram - np.diag(np.diagonal(gram))).max()
    assert (off_diagonal > 0.2) == rotate


def test_heterogeneity_is_what_consecutive_rows_see(read: Read) -> None:
    def variances(h: float) -> np.ndarray:
        source = Gaussian(
            rows=40_000, columns=3, rotate=False, heterogeneity=h, labels="linear"
        )
        quarters = drawn(read(source)).reshape(4, 10_000, 3)
        return (quarters**2).mean(axis=1)

    assert_allclose(variances(0.0), 1, atol=0.1)
    seen = variances(1.0)
    # From quarter to quarter, and in another way in each direction.
    assert (seen.max(axis=0) / seen.min(axis=0)).min() > 3
    assert (seen.max(axis=1) / seen.min(axis=1)).max() > 2


def test_linear_labels_follow_a_model(read: Read) -> None:
    for noise in (0.0, 0.5):
        source = Gaussian(rows=50_000, columns=5, labels="linear", noise=noise)
        rows = read(source)
        x, *_ = np.linalg.lstsq(drawn(rows), rows.labels)
        residual = drawn(rows) @ x - rows.labels
        assert_allclose(residual.std(), noise, rtol=0.02, atol=1e-12)
        assert np.linalg.norm(x) > 0.1


def test_the_model_of_the_labels_drifts_with_heterogeneity(read: Read) -> None:
    source = Gaussian(
        rows=40_000, columns=5, labels="linear", noise=0.0, heterogeneity=1.0
    )
    rows = read(source)
    assert rows.labels is not None
    A = drawn(rows)
    first, *_ = np.linalg.lstsq(A[:2000], rows.labels[:2000])
    middle, *_ = np.linalg.lstsq(A[19_000:21_000], rows.labels[19_000:21_000])
    assert np.linalg.norm(first - middle) > 0.5


def test_signs_as_labels(read: Read) -> None:
    linear = read(Gaussian(rows=1000, columns=5, labels="linear")).labels
    sign = read(Gaussian(rows=1000, columns=5, labels="sign")).labels
    assert linear is not None
    assert sign is not None
    assert set(sign.tolist()) == {-1.0, 1.0}
    assert_array_equal(sign, np.sign(linear))


@pytest.mark.parametrize("decay", ["geometric", "linear", "power"])
@pytest.mark.parametrize("columns", [1, 2, 7])
def test_eigenvalues_fall_from_1_to_the_inverse_of_the_condition(
    decay: str, columns: int
) -> None:
    values = falling(columns, 50.0, decay)
    assert values.shape == (columns,)
    assert_allclose(values[0], 1)
    assert (np.diff(values) < 0).all()
    if columns > 1:
        assert_allclose(values[-1], 1 / 50)
    assert_allclose(falling(columns, 1.0, decay), 1)


def test_the_ways_of_falling_differ() -> None:
    middle = {d: falling(3, 100.0, d)[1] for d in ("geometric", "linear", "power")}
    assert_allclose(middle["geometric"], 0.1)
    assert_allclose(middle["linear"], 0.505)
    assert_allclose(middle["power"], 100 ** -(np.log(2) / np.log(3)))


def test_a_spectrum_has_one_number_for_each_column() -> None:
    with pytest.raises(UserError) as caught:
        Gaussian(rows=5, columns=3, spectrum=[1, 2])
    assert str(caught.value) == (
        "data.spectrum has 2 eigenvalues, but data.columns is 3; expected one for each "
        "column"
    )


def test_the_spectrum_is_told_once() -> None:
    with pytest.raises(UserError, match="leave one of them out"):
        Gaussian(rows=5, columns=2, spectrum=[1, 2], condition=3)


@pytest.mark.parametrize(
    ("options", "dtype"),
    [
        ({"noise": 1e308, "labels": "linear"}, np.float64),
        ({"noise": 1e39, "labels": "linear"}, np.float32),
        ({"spectrum": [1e80] * 6}, np.float32),
    ],
)
def test_numbers_too_large_for_their_type_are_refused(
    options: dict[str, Any], dtype: Any, read: Read
) -> None:
    with pytest.raises(UserError) as caught:
        read(Gaussian(rows=103, columns=6, **options), dtype=dtype)
    assert str(caught.value) == (
        f"[data] makes numbers that are not finite in {np.dtype(dtype)}; take a "
        "smaller spectrum, or less noise"
    )


HUGE = {10**12: "1,000,000,000,000", 10**30: "1.00e+30", 10**400: "1.00e+400"}
"""Numbers, and how they are told."""


@pytest.mark.parametrize("source", [Bernoulli, Gaussian])
@pytest.mark.parametrize("huge", HUGE, ids=HUGE.values())
def test_rows_that_no_memory_can_hold_are_refused(
    source: Any, huge: int, read: Read
) -> None:
    with pytest.raises(UserError) as caught:
        read(source(rows=huge, columns=50))
    told = str(caught.value)
    assert told.startswith(
        f"[data] rows = {HUGE[huge]} and columns = 50 give one agent {HUGE[huge]} rows,"
    )
    assert told.endswith("GB; take fewer, or more machines")


@pytest.mark.parametrize("huge", HUGE, ids=HUGE.values())
def test_columns_that_no_memory_can_hold_are_refused(huge: int, read: Read) -> None:
    columns = f"columns = {re.escape(HUGE[huge])}"
    with pytest.raises(UserError, match=rf"^\[data\] rows = 3 and {columns} give one"):
        read(Bernoulli(rows=3, columns=huge))
    with pytest.raises(UserError, match=rf"^\[data\] {columns} make a vector of .* GB"):
        read(Gaussian(rows=3, columns=huge))


def test_a_rotation_that_no_memory_can_hold_is_refused(read: Read) -> None:
    with pytest.raises(UserError) as caught:
        read(Gaussian(rows=3, columns=2_000_000))
    told = str(caught.value)
    assert told.startswith("[data] columns = 2,000,000 need a matrix Q of 32,000 GB, ")
    assert told.endswith(" GB; set rotate = false, or take fewer")
    assert read(Gaussian(rows=3, columns=2_000_000, rotate=False)).columns == 2_000_000


def test_the_memory_of_the_machine_is_the_limit(
    monkeypatch: pytest.MonkeyPatch, read: Read
) -> None:
    pages = {"SC_PHYS_PAGES": 10, "SC_PAGE_SIZE": 80}
    monkeypatch.setattr(os, "sysconf", pages.__getitem__)
    assert len(read(Bernoulli(rows=200, columns=10), 0, 10)) == 10
    with pytest.raises(UserError) as caught:
        read(Bernoulli(rows=200, columns=10), 3, 14)
    assert str(caught.value) == (
        "[data] rows = 200 and columns = 10 give one agent 11 rows, 8.8e-7 GB, and "
        "this machine has 8e-7 GB; take fewer, or more machines"
    )
    assert len(read(Bernoulli(rows=200, columns=10), 0, 20, dtype=np.float32)) == 20
