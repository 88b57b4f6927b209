"""What C must know of Python and numpy to be called with arrays: see abi.h."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

from pmgt_mpi.engine import BuildError

Address = ctypes.c_void_p

METH_O, METH_FASTCALL = 0x08, 0x80

ARRAY_TYPE, NEW_ARRAY = 2, 93
"""Places of PyArray_Type and PyArray_New in numpy's table for extensions; they are part
of its ABI."""


class ArrayStruct(ctypes.Structure):
    """array_t of abi.h."""

    _fields_ = (
        ("references", ctypes.c_ssize_t),
        ("type", Address),
        ("data", Address),
        ("nd", ctypes.c_int),
        ("dimensions", ctypes.POINTER(ctypes.c_ssize_t)),
        ("strides", ctypes.POINTER(ctypes.c_ssize_t)),
        ("base", Address),
        ("dtype", Address),
        ("flags", ctypes.c_int),
    )


FUNCTIONS = (
    ("save_thread", "PyEval_SaveThread"),
    ("restore_thread", "PyEval_RestoreThread"),
    ("as_double", "PyFloat_AsDouble"),
    ("from_long", "PyLong_FromLong"),
    ("release", "Py_DecRef"),
    ("vectorcall", "PyObject_Vectorcall"),
    ("error_occurred", "PyErr_Occurred"),
    ("set_error", "PyErr_SetObject"),
)
"""Of python_t, and what Python calls them."""

DTYPES = {
    "dtype_double": np.dtype(np.float64),
    "dtype_float": np.dtype(np.float32),
    "dtype_index": np.dtype(np.int64),
}


class PythonStruct(ctypes.Structure):
    """python_t of abi.h."""

    _fields_ = (
        *((name, Address) for name, _ in FUNCTIONS),
        ("new_array", Address),
        ("array_type", Address),
        *((name, Address) for name in DTYPES),
    )


class MethodStruct(ctypes.Structure):
    """Python's PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("call", Address),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


def check_layout() -> None:
    """Refuse a Python or a numpy whose arrays do not begin as abi.h says.

    Nothing is read beyond the object: a Python without a GIL has a longer head, and all
    else would come later.
    """
    x = np.zeros((3, 5), np.float32)
    fits = np.ndarray.__basicsize__ >= ctypes.sizeof(ArrayStruct)
    if fits:
        seen = ArrayStruct.from_address(id(x))
        fits = (
            (seen.type, seen.data, seen.nd) == (id(np.ndarray), x.ctypes.data, 2)
            and seen.dtype == id(DTYPES["dtype_float"])
            and (seen.dimensions[0], seen.dimensions[1]) == x.shape
            and (seen.strides[0], seen.strides[1]) == x.strides
            and seen.base is None
            and bool(seen.flags & 0x001) == x.flags.c_contiguous
            and bool(seen.flags & 0x100) == x.flags.aligned
        )
    if not fits or _table()[ARRAY_TYPE] != id(np.ndarray):
        raise BuildError("this Python and its numpy keep arrays in a way not known")


def python_struct() -> PythonStruct:
    """Find the functions and types that the engine uses."""
    found = {name: _address(getattr(ctypes.pythonapi, of)) for name, of in FUNCTIONS}
    return PythonStruct(
        **found,
        new_array=_table()[NEW_ARRAY],
        array_type=id(np.ndarray),
        **{name: id(dtype) for name, dtype in DTYPES.items()},
    )


def function_of_python(
    name: str, call: Any, struct: Any, kept: Any, *, one_argument: bool
) -> Callable[..., Any]:
    """Make a function of Python out of one in C, whose `self` is the struct.

    The struct, and what is `kept`, live as long as the function does.
    """
    flags = METH_O if one_argument else METH_FASTCALL
    method = MethodStruct(name.encode(), _address(call), flags, None)
    struct.kept = (method, kept)
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype = ctypes.py_object
    make.argtypes = [Address, ctypes.py_object, Address]
    here = np.frombuffer(struct, np.uint8)
    made: Callable[..., Any] = make(ctypes.addressof(method), here, None)
    return made


def _address(function: Any) -> int:
    return ctypes.cast(function, Address).value or 0


def _table() -> Any:
    """Numpy's table of addresses, found as its own header does."""
    try:
        module = import_module("numpy._core._multiarray_umath")
    except ImportError:  # before numpy 2
        module = import_module("numpy.core._multiarray_umath")
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = Address, [ctypes.py_object, ctypes.c_char_p]
    where = pointer(module._ARRAY_API, None)
    return ctypes.cast(where, ctypes.POINTER(ctypes.c_size_t))
