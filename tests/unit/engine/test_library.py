"""The loaded engine: its builds, what its functions keep alive, and what is refused."""

from __future__ import annotations

import gc
import sys
import sysconfig
import weakref
from importlib.util import find_spec
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import random_array

from pmgt_mpi.engine import build as building
from pmgt_mpi.engine import library as loading
from pmgt_mpi.engine.library import DTYPES, Library
from pmgt_mpi.engine.variants import BuildError, variants
from pmgt_mpi.problems.compiled_rows import CompiledRows
from pmgt_mpi.problems.rows import DenseRows, SparseRows


@pytest.fixture
def library():
    try:
        return Library()
    except BuildError as error:
        pytest.skip(f"no compiled engine: {error}")


def runnable() -> list[Library]:
    """Every build that this processor can run."""
    names = list(variants())
    return [Library(name) for name in names[: names.index(Library().variant) + 1]]


def rows_of(n: int, d: int, dtype, *, sparse: bool):
    rng = np.random.default_rng(n * d)
    if sparse:
        return SparseRows(
            random_array((n, d), density=0.3, rng=rng, dtype=dtype, format="csr")
        )
    return DenseRows(rng.normal(size=(n, d)).astype(dtype))


def products_of(build: Library) -> list[bytes]:
    """The bits of every product, of rows of every kind and many sizes."""
    rng = np.random.default_rng(1)
    bits = []
    for dtype, sparse in product(DTYPES, (False, True)):
        for d in (1, 2, 3, 7, 8, 9, 50, 129, 1000):
            compiled = CompiledRows(rows_of(40, d, dtype, sparse=sparse), build)
            rows = rng.integers(0, 40, 23)
            x, z = rng.normal(size=d).astype(dtype), rng.normal(size=23).astype(dtype)
            batch = compiled.gather(rows)
            normal = compiled.normal(rows, x, 0.3, -0.7)
            bits += [a.tobytes() for a in (batch.dot(x), batch.tdot(z), normal)]
    return bits


def test_the_builds_give_the_same_bits(library):
    builds = runnable()
    if len(builds) == 1:
        pytest.skip("this processor runs one build only")
    expected = products_of(library)
    assert all(products_of(build) == expected for build in builds)


def test_another_compiler_gives_the_same_bits(library, tmp_path, monkeypatch):
    """So the ranks of a run may have been installed on machines of different kinds."""
    if find_spec("ziglang") is None:
        pytest.skip("ziglang is not installed (extra fast)")
    expected = products_of(library)
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(building, "COMPILERS", ())
    monkeypatch.setenv("PYTHONPATH", "/nowhere")  # as where pip builds
    building.build(tmp_path)
    monkeypatch.setattr(loading, "__package__", tmp_path.name)
    monkeypatch.syspath_prepend(tmp_path.parent)
    for variant in [build.variant for build in runnable()]:
        other = Library(variant)
        assert tmp_path in Path(other._module.__file__).parents
        assert products_of(other) == expected, variant


def test_what_a_function_works_on_lives_as_long_as_it_and_no_longer(library):
    plain = DenseRows(np.arange(12.0).reshape(4, 3))
    rows, x = np.array([0, 3]), np.ones(3)
    expected = plain.normal(rows, x, 2.0, 1.0)
    gone = weakref.ref(plain)
    normal = CompiledRows(plain, library).normal
    del plain
    gc.collect()
    np.full((4, 3), np.nan)  # where the rows would lie if they were gone
    assert normal(rows, x, 2.0, 1.0).tolist() == expected.tolist()
    assert gone() is not None
    del normal
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("step", [1, -1])
def test_nothing_is_lost_in_many_calls(library, step):
    """With a step of -1 numpy does the work; 2.5 itself loses some of its dtype."""
    normal = CompiledRows(DenseRows(np.ones((4, 3))), library).normal
    rows, x = np.array([0, 3]), np.ones(3)
    kept = (rows, x, np.ndarray, np.empty, *([x.dtype] if step == 1 else []))
    before = sum(map(sys.getrefcount, kept))
    for _ in range(1000):
        normal(rows, x[::step], 2.0, 1.0)
        with pytest.raises(TypeError):
            normal(rows)
    after = sum(map(sys.getrefcount, kept))
    assert abs(after - before) < 100


FITTING = {
    "neighbours": 1,
    "requests": 48,
    "theirs": 5,
    "own": 5,
    "rounds": 1,
    "handles": 8,
}


@pytest.mark.parametrize(
    "wrong",
    [
        {"requests": 49},
        {"theirs": 6},
        {"own": 6},
        {"rounds": 2},
        {"handles": 9},
        {"neighbours": 2},
        {"neighbours": 0, "requests": 0},
    ],
    ids=str,
)
def test_buffers_of_an_exchange_that_do_not_fit_are_refused(library, wrong):
    sizes = FITTING | wrong
    with pytest.raises(ValueError, match="the buffers of an exchange do not fit"):
        library.exchange(
            (0, 0, 0, 0),
            sizes["handles"],
            0,
            0,
            True,
            True,
            np.zeros(sizes["neighbours"], np.int32),
            np.zeros(sizes["requests"], np.uint8),
            np.zeros(48, np.uint8),
            np.zeros((3, sizes["own"])),
            np.zeros((min(sizes["neighbours"], 1), sizes["theirs"])),
            np.zeros(sizes["rounds"], np.int64),
        )


def test_a_build_that_is_not_there(monkeypatch):
    monkeypatch.setattr(loading, "module_name", lambda variant: f"_none_{variant}")
    with pytest.raises(
        BuildError,
        match=r"not built with the package; install a C compiler, or pip install "
        r"ziglang, then python -m pmgt_mpi\.engine --build",
    ):
        Library()


def test_on_a_free_threaded_python_nothing_is_built_or_loaded(monkeypatch, tmp_path):
    """Its objects are other ones: what is built for the rest would crash there."""
    monkeypatch.setattr(sysconfig, "get_config_var", lambda name: name[:3] == "Py_")
    for use in (Library, lambda: building.build(tmp_path)):
        with pytest.raises(BuildError, match="and this one is free-threaded"):
            use()
    monkeypatch.setattr(sys.implementation, "name", "pypy")
    with pytest.raises(BuildError, match="needs CPython"):
        Library()


def test_a_build_of_other_sources(library, monkeypatch):  # noqa: ARG001
    monkeypatch.setattr(loading, "sources_digest", lambda: "others")
    with pytest.raises(BuildError, match="it was built of other sources than are here"):
        Library()
