"""Decentralized optimization on real MPI ranks.

Nothing heavy is imported here: a program that sets its environment before numpy and MPI
are loaded must be able to import this package first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pmgt_mpi.version import __version__

__all__ = ["PCA", "Result", "__version__", "load", "solve"]

if TYPE_CHECKING:
    from pmgt_mpi.api import Result, solve
    from pmgt_mpi.estimators import load_model as load
    from pmgt_mpi.estimators.pca import PCA


def __getattr__(name: str) -> Any:
    if name in ("solve", "Result"):
        from pmgt_mpi import api

        return getattr(api, name)
    if name == "load":
        from pmgt_mpi.estimators import load_model

        return load_model
    if name == "PCA":
        from pmgt_mpi.estimators import ESTIMATORS, load_class

        return load_class(ESTIMATORS[name])
    raise AttributeError(f"module 'pmgt_mpi' has no attribute '{name}'")
