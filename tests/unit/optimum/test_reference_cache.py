from __future__ import annotations

import dataclasses
import os

import numpy as np
import pytest

from pmgt_mpi.data.shard import Shard
from pmgt_mpi.optimum import cache as reference_cache
from pmgt_mpi.optimum.cache import cached_minimise, reference_key
from pmgt_mpi.problems.ridge import Ridge
from pmgt_mpi.regularizers.shrinkage import L1, ElasticNet
from tests.unit.problems.examples import alone, make_problem, make_shard

PSI = L1(strength=0.1)
OPTIONS = {"l2": 0.3}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("PMGT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "references"


@pytest.fixture
def solved(monkeypatch):
    """Count how often the solver really runs."""
    calls = []
    real = reference_cache.minimise

    def counted(*arguments):
        calls.append(1)
        return real(*arguments)

    monkeypatch.setattr(reference_cache, "minimise", counted)
    return calls


def find(shard=None, psi=PSI, options=OPTIONS, kind="ridge"):
    shard = shard or make_shard(30, 4)
    problem = make_problem(kind, shard, **options)
    constants = problem.constants(alone())
    return cached_minimise(problem, psi, alone(), shard, constants, options)


def test_the_second_time_it_is_read(solved, folder):
    first = find()
    (path,) = folder.iterdir()
    assert path.suffix == ".npz"
    second = find()
    assert len(solved) == 1
    np.testing.assert_array_equal(first.x, second.x)
    np.testing.assert_array_equal(first.grad, second.grad)
    assert first.objective == second.objective
    assert first.residual == second.residual


def key(shard=None, psi=PSI, options=OPTIONS, kind="ridge"):
    shard = shard or make_shard(30, 4)
    problem = make_problem(kind, shard, **options)
    return reference_key(problem, psi, alone(), shard, options)


def test_the_key_holds_all_that_the_minimiser_depends_on(monkeypatch):
    shard = make_shard(30, 4)
    changed_row, changed_label = shard.A.copy(), shard.labels.copy()
    changed_row[3, 1] = np.nextafter(changed_row[3, 1], 9.0)
    changed_label[3] = np.nextafter(changed_label[3], 9.0)
    keys = [
        key(),
        key(Shard(changed_row, shard.labels, 30, 1)),
        key(Shard(shard.A, changed_label, 30, 1)),
        key(make_shard(30, 4, sparse=True)),
        key(make_shard(30, 4, dtype="float32")),
        key(options={"l2": 0.4}),
        key(kind="logistic"),
        key(psi=L1(strength=0.2)),
        key(psi=ElasticNet(l1=0.1, l2=0.0)),
    ]
    monkeypatch.setattr(reference_cache, "SOLVER_VERSION", 99)
    keys.append(key())
    assert len(set(keys)) == len(keys)


def test_a_default_and_the_same_value_given_have_one_key():
    assert key(kind="shift-invert-pca", options={"ratio": 2.0}) == key(
        kind="shift-invert-pca", options={"ratio": 2.0, "b_seed": 0}
    )


@pytest.mark.parametrize(
    "content", [b"", b"PK\x03\x04 not a zip file", b"x" * 1000], ids=len
)
def test_a_broken_file_is_ignored_and_rewritten(content, solved, folder):
    first = find()
    (path,) = folder.iterdir()
    whole = path.read_bytes()
    for broken in (content, whole[:-30], whole[:100]):
        path.write_bytes(broken)
        np.testing.assert_array_equal(find().x, first.x)
        assert path.read_bytes() == whole
    assert len(solved) == 4


def test_no_flipped_bit_is_an_error(folder):
    first = find()
    (path,) = folder.iterdir()
    whole = path.read_bytes()
    for at in range(len(whole)):
        for bit in (1, 32, 128):
            broken = bytearray(whole)
            broken[at] ^= bit
            path.write_bytes(broken)
            stored = reference_cache.load(path, (4,))
            # Where the zip file has no checksum the numbers must be the right ones.
            assert stored is None or (stored[0] == first.x).all()


def test_a_file_of_another_kind_is_ignored(solved, folder):
    find()
    (path,) = folder.iterdir()
    for content in (
        {"y": np.zeros(4)},
        {"x": np.zeros(3), "residual": 1.0},
        {"x": np.full(4, np.inf), "residual": 1.0},
        {"x": np.zeros(4), "residual": np.zeros(2)},
        {"x": np.array([None] * 4), "residual": 1.0},
    ):
        with path.open("wb") as file:
            np.savez(file, allow_pickle=True, **content)
        assert find().residual < 1e-14
    assert len(solved) == 6


def test_what_is_no_minimiser_is_thrown_away(solved, folder):
    first = find()
    (path,) = folder.iterdir()
    with path.open("wb") as file:
        np.savez(file, x=first.x + 1e-9, residual=first.residual)
    np.testing.assert_array_equal(find().x, first.x)
    assert len(solved) == 2


def test_a_folder_that_cannot_be_written_is_no_error(solved, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PMGT_CACHE", str(tmp_path / "file"))
    assert find().residual < 1e-14
    assert find().residual < 1e-14
    assert len(solved) == 2


@pytest.mark.parametrize("umask", [0o000, 0o002, 0o077])
def test_it_is_closed_to_others_under_any_umask(umask, solved, folder):
    before = os.umask(umask)
    try:
        find()
        find()
    finally:
        os.umask(before)
    assert len(solved) == 1
    (path,) = folder.iterdir()
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_file_that_others_may_write_to_is_not_read(solved, folder):
    find()
    (path,) = folder.iterdir()
    for bits in (0o620, 0o602):
        path.chmod(bits)
        find()
        assert path.stat().st_mode & 0o777 == 0o600
    assert len(solved) == 3


def test_the_cache_of_another_user_is_not_used(solved, folder, monkeypatch, caplog):
    find()
    (path,) = folder.iterdir()
    before = path.stat()
    owner = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: owner + 1)
    assert find().residual < 1e-14
    assert len(solved) == 2
    assert path.stat() == before
    (record,) = caplog.records
    assert "belongs to another user" in record.getMessage()


def test_a_user_s_own_code_is_solved_again(solved, folder):
    class Mine(Ridge):
        pass

    shard = make_shard(30, 4)
    problem = Mine(shard, alone(), l2=0.3)
    constants = problem.constants(alone())
    for _ in range(2):
        assert cached_minimise(problem, PSI, alone(), shard, constants, OPTIONS)

    @dataclasses.dataclass(frozen=True, kw_only=True)
    class MyL1(L1):
        pass

    find(psi=MyL1(strength=0.1))
    find(psi=MyL1(strength=0.1))
    assert len(solved) == 4
    assert not folder.exists()


def test_without_constants_there_is_none(folder):
    shard = make_shard(30, 4)
    problem = make_problem("ridge", shard)
    assert cached_minimise(problem, PSI, alone(), shard, None, OPTIONS) is None
    assert not folder.exists()
