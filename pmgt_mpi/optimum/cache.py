"""Reference minimisers, kept on disk: the same data and problem are solved once."""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pmgt_mpi.cache import is_own, own_folder
from pmgt_mpi.data.shard import Shard
from pmgt_mpi.errors import UserError
from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.optimum.reference import (
    SOLVER_VERSION,
    MeanFunction,
    Reference,
    certify,
    minimise,
)
from pmgt_mpi.problems.base import Constants, Problem
from pmgt_mpi.regularizers.base import Regularizer
from pmgt_mpi.replacing import replacing

Array = NDArray[Any]


def cached_minimise(
    problem: Problem,
    regularizer: Regularizer,
    collective: Collective,
    shard: Shard,
    constants: Constants | None,
    options: Mapping[str, Any],
) -> Reference | None:
    """Do as `minimise` does, or take x* from the cache; collective.

    What is read is not believed: its residual is measured again, and a minimiser that
    is worse than it was is thrown away. Only agent 0 touches the disk. A cache that
    cannot be written is not used. A user's own problem or regularizer is always
    solved again: nothing tells whether its code is still the same.

    Parameters
    ----------
    problem, regularizer, collective, constants
        As for `minimise`.
    shard
        The rows that the problem was made of.
    options
        The options that the problem was made with.
    """
    if constants is None:
        return None
    key = reference_key(problem, regularizer, collective, shard, options)
    f = MeanFunction(problem, collective, shard.weight)
    path = place(key) if collective.agent == 0 and key is not None else None
    stored = collective.from_first(path and load(path, problem.shape))
    if stored is not None:
        x, residual = stored
        reference = certify(x, f, regularizer, constants)
        if reference.residual <= 2 * residual + 1e-15:
            return reference
    solved = minimise(problem, regularizer, collective, shard.weight, constants)
    if solved is not None and path is not None:
        save(path, solved)
    return solved


def reference_key(
    problem: Problem,
    regularizer: Regularizer,
    collective: Collective,
    shard: Shard,
    options: Mapping[str, Any],
) -> str | None:
    """Return a fingerprint of all that x* depends on; None for a user's own code."""
    kinds = (type(problem), type(regularizer))
    if any(kind.__module__.partition(".")[0] != "pmgt_mpi" for kind in kinds):
        return None
    digests = collective.gather(shard.digest())
    given = inspect.signature(type(problem)).bind(None, None, **options)
    given.apply_defaults()
    parts = {
        "solver": SOLVER_VERSION,
        "problem": [*address(kinds[0]), given.kwargs],
        "regularizer": [*address(kinds[1]), dataclasses.asdict(regularizer)],  # type: ignore[call-overload]
        "dtype": str(shard.A.dtype),
        "shards": digests,
    }
    text = json.dumps(parts, sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def address(kind: type) -> tuple[str, str]:
    """Module and name of a class."""
    return kind.__module__, kind.__qualname__


def place(key: str) -> Path | None:
    """Return the file for a minimiser; None where the cache cannot be used."""
    try:
        return own_folder("references") / f"{key}.npz"
    except OSError:
        return None  # a read-only home is no reason to stop
    except UserError as error:
        import logging  # seldom needed

        log = logging.getLogger(__name__)
        log.warning("%s; this run finds the minimiser again", error)
        return None


def load(path: Path, shape: tuple[int, ...]) -> tuple[Array, float] | None:
    """Read x* and its residual; None where there is no whole file of the user's own."""
    from zipfile import BadZipFile  # only agent 0 comes here

    try:
        if not is_own(path):
            return None
        with path.open("rb") as file:
            arrays = np.load(file, allow_pickle=False)
            x, residual = arrays["x"], float(arrays["residual"].item())
    except (OSError, ValueError, LookupError, EOFError, RuntimeError, BadZipFile):
        return None  # RuntimeError: a flipped bit says encrypted, or another method
    whole = x.shape == shape and x.dtype == np.float64 and np.isfinite(x).all()
    return (x, residual) if whole else None


def save(path: Path, reference: Reference) -> None:
    """Write x* and its residual, whole or not at all."""
    try:
        with replacing(path) as part, part.open("wb") as file:
            part.chmod(0o600)
            np.savez(file, x=reference.x, residual=reference.residual)
    except OSError:
        return  # a full disk is no reason to stop: the next run solves again
