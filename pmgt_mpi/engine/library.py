"""The compiled engine: which of its builds runs here, and its functions."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.engine.variants import (
    BuildError,
    check_python,
    module_name,
    sources_digest,
)

Array = NDArray[Any]

DTYPES = (np.dtype(np.float64), np.dtype(np.float32))
"""The types of number that the engine has functions for."""

HOW = "python -m pmgt_mpi.engine --build"


class Library:
    """One build of the engine, loaded.

    Parameters
    ----------
    variant
        Its name; by default that of the widest registers which this processor has.
        All builds give the same bits.
    """

    def __init__(self, variant: str | None = None) -> None:
        check_python()
        baseline = _load("baseline")
        self.variant = variant or str(baseline.widest())
        self._module = baseline if self.variant == "baseline" else _load(self.variant)

    def exchange(self, *arguments: Any) -> Any:
        """Return the messages of one agent: see exchange.h."""
        return self._module.exchange(*arguments)

    def mixer(
        self,
        exchange: Any,
        weights: Array,
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        plain: Callable[[Array], Array],
        exception: type[Exception],
    ) -> tuple[Callable[[Array], Array], Callable[[Array], None], Callable[[], Array]]:
        """Return what runs the rounds of these weights, and its two halves.

        Parameters
        ----------
        exchange
            Its messages.
        weights
            A row for each round.
        shape, dtype
            Of the arrays that the functions take and return.
        plain
            Makes an array without gaps of one that has some.
        exception
            Raised with MPI's error code.
        """
        functions: tuple[
            Callable[[Array], Array], Callable[[Array], None], Callable[[], Array]
        ] = self._module.mixer(
            exchange, weights, shape, np.empty, dtype, plain, exception
        )
        return functions

    def products(
        self,
        A: Array | tuple[Array, Array, Array],
        d: int,
        otherwise: tuple[Callable[..., Array], ...],
    ) -> tuple[Callable[..., Array], ...]:
        """Return the functions dot, tdot and normal of an agent's rows.

        Parameters
        ----------
        A
            Dense rows, or entries, starts and columns of CSR rows.
        d
            Columns.
        otherwise
            Called instead of each if an argument is no plain vector of the rows' type,
            or an index is of no row.
        """
        values, starts, columns = A if isinstance(A, tuple) else (A, None, None)
        functions: tuple[Callable[..., Array], ...] = self._module.products(
            values, starts, columns, d, np.empty, values.dtype, *otherwise
        )
        return functions


def _load(variant: str) -> Any:
    """Import a build of the sources that are here."""
    name = f"{__package__}.{module_name(variant)}"
    try:
        module = import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise BuildError(
            "it was not built with the package; install a C compiler, or pip install "
            f"ziglang, then {HOW}"
        ) from None
    except ImportError as error:
        raise BuildError(f"it cannot be loaded: {error}; {HOW}") from None
    if sources_digest() != module.SOURCES:
        raise BuildError(f"it was built of other sources than are here; {HOW}")
    return module
