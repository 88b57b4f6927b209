"""Functions of Python made of functions in C: what they know, what they keep alive."""

from __future__ import annotations

import gc
import sys
import weakref

import numpy as np
import pytest

from pmgt_mpi.engine import BuildError, abi
from pmgt_mpi.engine.abi import check_layout
from pmgt_mpi.execution.engine import choose_engine
from pmgt_mpi.problems.compiled_rows import CompiledRows
from pmgt_mpi.problems.rows import DenseRows
from tests.unit.problems.examples import alone


@pytest.fixture
def library():
    chosen = choose_engine(alone(), "auto")
    if chosen.library is None:
        pytest.skip(f"no compiled engine: {chosen.why}")
    return chosen.library


def test_this_python_and_numpy_are_known():
    check_layout()


@pytest.mark.parametrize("name", ["type", "data", "nd", "strides", "dtype", "flags"])
def test_arrays_of_another_build_are_refused(monkeypatch, name):
    """One field later, as behind the longer head of a Python without a GIL."""
    fields = list(abi.ArrayStruct._fields_)
    place = [field for field, _ in fields].index(name)
    fields.insert(place, ("more", abi.Address))

    class Longer(abi.ctypes.Structure):
        _fields_ = tuple(fields)

    monkeypatch.setattr(abi, "ArrayStruct", Longer)
    with pytest.raises(BuildError, match="keep arrays in a way not known"):
        check_layout()


def test_a_table_of_another_abi_is_refused(monkeypatch):
    monkeypatch.setattr(abi, "ARRAY_TYPE", abi.ARRAY_TYPE + 1)
    with pytest.raises(BuildError, match="keep arrays in a way not known"):
        check_layout()


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


def test_nothing_is_lost_in_many_calls(library):
    normal = CompiledRows(DenseRows(np.ones((4, 3))), library).normal
    rows, x = np.array([0, 3]), np.ones(3)
    before = sum(map(sys.getrefcount, (x.dtype, rows, x, np.ndarray)))
    for _ in range(1000):
        normal(rows, x, 2.0, 1.0)
        normal(rows, x[::-1], 2.0, 1.0)
        with pytest.raises(TypeError):
            normal(rows)
    after = sum(map(sys.getrefcount, (x.dtype, rows, x, np.ndarray)))
    assert abs(after - before) < 100
