"""A fitted model in a folder: its arrays, and what else describes it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from pmgt_mpi.errors import UserError
from pmgt_mpi.estimators import ESTIMATORS, load_class
from pmgt_mpi.replacing import replacing
from pmgt_mpi.version import __version__

SCHEMA = 1
ARRAYS, FACTS = "model.npz", "model.json"


def save(model: Any, folder: Path) -> None:
    """Write a fitted estimator; ``model.json`` comes last and makes it whole.

    Its communicator and a graph that was given as an object are left out.
    """
    fitted = {k: v for k, v in vars(model).items() if k.endswith("_") and k[0] != "_"}
    arrays = {k: v for k, v in fitted.items() if isinstance(v, np.ndarray)}
    names = arrays.pop("feature_names_in_", None)
    options = model.get_params(deep=False)
    del options["comm"]
    if not isinstance(options["network"], str | dict):
        del options["network"]
    facts = {
        "schema": SCHEMA,
        "version": __version__,
        "estimator": type(model).__name__,
        "options": options,
        "fitted": {k: v for k, v in fitted.items() if not isinstance(v, np.ndarray)},
        "columns": None if names is None else list(map(str, names)),
    }
    with replacing(folder / ARRAYS) as part, part.open("wb") as file:
        np.savez(file, allow_pickle=False, **arrays)
    with replacing(folder / FACTS) as part:
        part.write_text(json.dumps(facts, indent=1, default=_plain) + "\n")


def load(folder: str | Path) -> Any:
    """Read a model folder; return the fitted estimator."""
    folder = Path(folder)
    try:
        facts = json.loads((folder / FACTS).read_text())
        if facts["schema"] != SCHEMA:
            raise UserError(
                f"{folder / FACTS} was written by pmgt_mpi {facts['version']}, in "
                f"layout {facts['schema']}, and this one reads {SCHEMA}; read it there"
            )
        model = load_class(ESTIMATORS.address(facts["estimator"]))(**facts["options"])
        with np.load(folder / ARRAYS, allow_pickle=False) as arrays:
            for name in arrays.files:
                setattr(model, name, arrays[name])
        for name, value in facts["fitted"].items():
            setattr(model, name, value)
        if facts["columns"] is not None:
            model.feature_names_in_ = np.array(facts["columns"], dtype=object)
    except FileNotFoundError as error:
        raise UserError(
            f"{folder} is no model folder: {error.filename} is missing; give the --out "
            "of python -m pmgt_mpi.fit"
        ) from None
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise UserError(
            f"{folder} is no whole model folder ({error}); fit the model again"
        ) from None
    return model


def _plain(value: Any) -> Any:
    """A number of numpy's as JSON has it."""
    return value.item()
