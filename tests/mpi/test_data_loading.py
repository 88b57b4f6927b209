"""Shards on several agents: together they are the data, however it was read."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mpi4py import MPI
from numpy.testing import assert_allclose, assert_array_equal

from pmgt_mpi.data import exchange as exchange_module
from pmgt_mpi.data.loading import load_shard
from pmgt_mpi.data.partition import block_sizes
from pmgt_mpi.data.shard import Shard
from pmgt_mpi.data.sources.bernoulli import Bernoulli
from pmgt_mpi.data.sources.csv import Csv
from pmgt_mpi.data.sources.gaussian import Gaussian
from pmgt_mpi.data.sources.libsvm import Libsvm
from pmgt_mpi.data.sources.npy import Npy
from pmgt_mpi.mpi.collective import Collective
from tests.support.verdicts import Together

ROWS, COLUMNS = 61, 5
"""A prime number of rows: shards are unequal on 2, 4 and 5 agents."""

stream = np.random.default_rng(5)
A = np.round(stream.standard_normal((ROWS, COLUMNS)), 3)
A *= stream.random((ROWS, COLUMNS)) < 0.7
A[:, -1] = np.arange(1, ROWS + 1)  # tells the rows apart, and is never zero
LABELS = stream.integers(0, 3, ROWS).astype(float)

SOURCES: dict[str, Callable[[], Any]] = {
    "npy": lambda: Npy(path="a.npy", label_column=0),
    "npy-fortran": lambda: Npy(path="f.npy", labels="b.npy"),
    "csv": lambda: Csv(path="a.csv", label_column=0),
    "csv-packed": lambda: Csv(path="a.csv.gz", label_column=0),
    "libsvm": lambda: Libsvm(path="a.svm"),
    "libsvm-packed": lambda: Libsvm(path="a.svm.gz"),
}


@pytest.fixture
def folder(
    collective: Collective, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """Return one folder for all agents, with the same data in several formats."""
    base = Path(collective.from_first(str(tmp_path)))
    monkeypatch.setenv("PMGT_CACHE", str(base / "cache"))
    if collective.agent == 0:
        labelled = np.column_stack([LABELS, A])
        np.save(base / "a.npy", labelled)
        np.save(base / "f.npy", np.asfortranarray(A.astype(np.float64)))
        np.save(base / "b.npy", LABELS)
        csv = "".join(",".join(map(repr, row)) + "\n" for row in labelled.tolist())
        (base / "a.csv").write_text(csv)
        (base / "a.csv.gz").write_bytes(gzip.compress(csv.encode()))
        svm = "".join(
            f"{label} "
            + " ".join(f"{j + 1}:{v!r}" for j, v in enumerate(row) if v)
            + "\n"
            for label, row in zip(LABELS.tolist(), A.tolist(), strict=True)
        )
        (base / "a.svm").write_text(svm)
        (base / "a.svm.gz").write_bytes(gzip.compress(svm.encode()))
    collective.comm.Barrier()
    return base


def as_dense(shard: Shard) -> np.ndarray:
    array: np.ndarray = shard.A.toarray() if shard.sparse else shard.A
    return array


def everything(collective: Collective, shard: Shard) -> tuple[np.ndarray, np.ndarray]:
    """Put the shards of all agents together, in their order."""
    dense = np.concatenate(collective.gather(as_dense(shard)))
    return dense, np.concatenate(collective.gather(shard.labels))


@pytest.mark.parametrize("name", SOURCES)
def test_contiguous_shards_are_the_data_in_order(
    name: str, collective: Collective, folder: Path, together: Together
) -> None:
    shard = load_shard(collective, SOURCES[name](), base=folder)
    dense, labels = everything(collective, shard)
    with together:
        assert_array_equal(dense, A)
        assert_array_equal(labels, LABELS)
        assert (shard.total_rows, shard.agents) == (ROWS, collective.agents)
        assert shard.sparse == name.startswith("libsvm")
        if name not in ("csv", "libsvm"):
            sizes = block_sizes(ROWS, collective.agents)
            assert shard.rows == sizes[collective.agent]


@pytest.mark.parametrize("small", [False, True])
@pytest.mark.parametrize("shares", [False, True])
@pytest.mark.parametrize("name", SOURCES)
def test_shuffled_shards_depend_on_seed_and_data_alone(
    name: str,
    shares: bool,
    small: bool,
    collective: Collective,
    folder: Path,
    together: Together,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if small:  # many steps, many windows
        monkeypatch.setattr(exchange_module, "SEND_BYTES", 100)
        monkeypatch.setattr(exchange_module, "WINDOW_BYTES", 150)
    given = [1.0 + agent for agent in range(collective.agents)] if shares else None
    shard = load_shard(
        collective,
        SOURCES[name](),
        partition="shuffled",
        shares=given,
        base=folder,
        seed=3,
    )
    order = np.arange(ROWS, dtype=np.uint32)
    seed = np.random.SeedSequence(3, spawn_key=(2,))
    np.random.default_rng(seed).shuffle(order)
    dense, labels = everything(collective, shard)
    with together:
        # order[r] is the new position of row r.
        assert_array_equal(dense[order], A)
        assert_array_equal(labels[order], LABELS)
        assert not np.array_equal(dense, A)
        sizes = block_sizes(ROWS, collective.agents, given)
        assert shard.rows == sizes[collective.agent]
        assert shard.total_rows == ROWS


@pytest.mark.parametrize("small", [False, True])
@pytest.mark.parametrize("name", SOURCES)
def test_by_label_sorts_stably(
    name: str,
    small: bool,
    collective: Collective,
    folder: Path,
    together: Together,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if small:
        monkeypatch.setattr(exchange_module, "SEND_BYTES", 100)
        monkeypatch.setattr(exchange_module, "WINDOW_BYTES", 150)
    shard = load_shard(collective, SOURCES[name](), partition="by-label", base=folder)
    dense, labels = everything(collective, shard)
    order = np.argsort(LABELS, kind="stable")
    with together:
        assert_array_equal(dense, A[order])
        assert_array_equal(labels, LABELS[order])
        assert shard.rows == block_sizes(ROWS, collective.agents)[collective.agent]


@pytest.mark.parametrize("layout", ["auto", "dense", "sparse"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", ["npy", "csv", "libsvm"])
def test_layout_and_type_are_those_asked_for(
    name: str,
    dtype: Any,
    layout: Any,
    collective: Collective,
    folder: Path,
    together: Together,
) -> None:
    source = SOURCES[name]()
    shard = load_shard(
        collective,
        source,
        layout=layout,
        dtype=dtype,
        base=folder,
        partition="shuffled",
    )
    dense, labels = everything(collective, shard)
    back = np.argsort(dense[:, -1])
    with together:
        auto = layout == "auto"
        assert shard.sparse == (name == "libsvm" if auto else layout == "sparse")
        assert shard.A.dtype == labels.dtype == dtype
        assert_array_equal(dense[back], A.astype(dtype))
        assert_array_equal(labels[back], LABELS.astype(dtype))


@pytest.mark.parametrize("partition", ["contiguous", "shuffled"])
@pytest.mark.parametrize("name", SOURCES)
def test_columns_are_scaled_by_what_all_agents_have(
    name: str,
    partition: str,
    collective: Collective,
    folder: Path,
    together: Together,
) -> None:
    for scale, expected in [
        ("minmax", (A - A.min(0)) / (A.max(0) - A.min(0))),
        ("standard", (A - A.mean(0)) / A.std(0)),
        ("unit", A / np.linalg.norm(A, axis=1)[:, None]),
    ]:
        shard = load_shard(
            collective,
            SOURCES[name](),
            partition=partition,
            scale=scale,
            layout="dense",
            base=folder,
        )
        dense, _ = everything(collective, shard)
        with together:
            order = np.lexsort(dense.T)
            assert_allclose(dense[order], expected[np.lexsort(expected.T)], atol=1e-14)


@pytest.mark.parametrize("layout", ["dense", "sparse"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_columns_of_any_magnitude_are_scaled_over_all_agents(
    dtype: Any, layout: Any, collective: Collective, folder: Path, together: Together
) -> None:
    # The largest and the smallest number of a column lie with different agents.
    small = np.arange(1.0, 41).reshape(20, 2) % 19 + 1
    small[:, 0] = 2 * small[:, 0] - 21  # of both signs, and never zero
    info = np.finfo(dtype)
    huge, tiny = float(info.max) / 32, float(info.smallest_subnormal)
    if collective.agent == 0:
        np.save(folder / "e.npy", np.hstack([small * huge, small * tiny]))
    collective.comm.Barrier()
    source, given = Npy(path="e.npy"), {"layout": layout, "dtype": dtype}
    low, high = small.min(0), small.max(0)
    spread, deviation = high - low, small.std(0)
    for scale, expected in [
        ("minmax", (small - low) / spread),
        ("standard", (small - small.mean(0)) / deviation),
    ]:
        if (scale, layout) == ("standard", "sparse"):
            continue  # refused
        shard = load_shard(collective, source, scale=scale, base=folder, **given)
        dense = np.concatenate(collective.gather(as_dense(shard)))
        with together:
            assert_allclose(dense, np.hstack([expected] * 2), atol=20 * info.eps)


def test_sparse_rows_are_scaled_by_what_all_agents_have(
    collective: Collective, folder: Path, together: Together
) -> None:
    if collective.agent == 0:
        text = "".join(f"1 1:{i + 2} {i % 3 + 2}:{i + 1} 9:-3\n" for i in range(20))
        (folder / "s.svm").write_text(text)
    collective.comm.Barrier()
    source = Libsvm(path="s.svm")
    raw, _ = everything(collective, load_shard(collective, source, base=folder))
    shard = load_shard(collective, source, scale="minmax", base=folder)
    dense, _ = everything(collective, shard)
    spread = np.ptp(raw, axis=0)
    with together:
        expected = (raw - raw.min(0)) / np.where(spread == 0, 1, spread)
        assert_array_equal(dense, expected)
        assert shard.columns == 9
        assert shard.A.nnz == 3 * shard.rows
        assert dense[:, 8].tolist() == [0] * 20


@pytest.mark.parametrize(
    "source",
    [
        Bernoulli(rows=500, columns=7),
        Gaussian(rows=500, columns=7, labels="sign", heterogeneity=0.5, condition=10),
    ],
    ids=["bernoulli", "gaussian"],
)
def test_synthetic_data_are_the_same_on_any_number_of_agents(
    source: Any, collective: Collective, together: Together
) -> None:
    alone = load_shard(Collective(MPI.COMM_SELF), source, seed=9)
    shard = load_shard(collective, source, seed=np.random.SeedSequence(9))
    dense = np.concatenate(collective.gather(shard.A))
    labels = collective.gather(shard.labels)
    with together:
        assert_array_equal(dense, alone.A)
        if alone.labels is not None:
            assert_array_equal(np.concatenate(labels), alone.labels)


def test_contiguous_text_is_shared_by_bytes(
    collective: Collective, folder: Path, together: Together
) -> None:
    shares = [1.0 + 2 * agent for agent in range(collective.agents)]
    shard = load_shard(collective, SOURCES["csv"](), shares=shares, base=folder)
    dense, _ = everything(collective, shard)
    with together:
        assert_array_equal(dense, A)
        expected = ROWS * shares[collective.agent] / sum(shares)
        assert abs(shard.rows - expected) <= 0.1 * ROWS


def test_lines_so_long_that_an_agent_has_none_are_evened_out(
    collective: Collective, folder: Path, together: Together
) -> None:
    m = collective.agents
    if collective.agent == 0:
        long = "1.0" + "0" * 500 * m
        (folder / "long.csv").write_text(f"0,{long}\n" + "1,1\n" * (m - 1))
    collective.comm.Barrier()
    shard = load_shard(collective, Csv(path="long.csv"), base=folder)
    with together:
        assert shard.A.tolist() == [[min(1, collective.agent), 1]]


def test_each_agent_may_have_a_file_of_its_own(
    collective: Collective, folder: Path, together: Together
) -> None:
    n = collective.agent + 1
    np.save(folder / f"part-{collective.agent}.npy", np.full((n, 3), n))
    np.save(folder / f"labels-{collective.agent}.npy", np.full(n, -n))
    (folder / f"part-{collective.agent:03d}.csv").write_text(f"{n},{n},{n}\n" * n)
    (folder / f"{collective.agent}.svm").write_text(f"{-n} 1:{n} {n + 2}:{n}\n" * n)
    with gzip.open(folder / f"{collective.agent}.csv.gz", "wb") as file:
        file.write(b"%d,%d,%d\n" % (n, n, n) * n)
    for source in (
        Npy(path="part-{agent}.npy", labels="labels-{agent}.npy"),
        Csv(path="part-{agent:03d}.csv"),
        Csv(path="{agent}.csv.gz"),
        Libsvm(path="{agent}.svm"),
    ):
        shard = load_shard(collective, source, base=folder)
        with together:
            assert shard.rows == n
            assert shard.total_rows == sum(range(1, collective.agents + 1))
            assert set(as_dense(shard)[:, 0]) == {n}
            assert shard.labels is None or set(shard.labels) == {-n}
            wide = collective.agents + 2 if shard.sparse else 3
            assert shard.columns == wide
