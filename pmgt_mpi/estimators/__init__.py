"""Estimators with scikit-learn's interface, on rows that stay with their agent."""

from __future__ import annotations

from typing import Any

from pmgt_mpi.registry import Registry, import_object

ESTIMATORS = Registry("estimator", {"PCA": "pmgt_mpi.estimators.pca:PCA"})


def load_class(address: str) -> Any:
    """Import an estimator, or say that scikit-learn is missing."""
    try:
        import sklearn  # noqa: F401
    except ModuleNotFoundError:
        name = address.partition(":")[2]
        raise ModuleNotFoundError(
            f"pmgt_mpi.{name} has its base classes from scikit-learn, which is not "
            "installed; pip install 'pmgt_mpi[sklearn]'"
        ) from None
    return import_object(address)


def load_model(folder: Any) -> Any:
    """Read a model folder that ``python -m pmgt_mpi.fit`` or `save` has written."""
    from pmgt_mpi.estimators.model import load

    return load(folder)
