"""The smallest config, and changes of it."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from pmgt_mpi.config.read import check_config
from pmgt_mpi.config.schema import Config
from pmgt_mpi.errors import UserError

SMALLEST: dict[str, Any] = {
    "data": {"source": "bernoulli", "rows": 60, "columns": 4},
    "problem": {"kind": "ridge"},
    "algorithm": [{"name": "nids"}],
}


def config(**changes: Any) -> dict[str, Any]:
    """The smallest config with keys added to its sections; a list takes its place."""
    values = copy.deepcopy(SMALLEST)
    for section, change in changes.items():
        if isinstance(change, dict) and isinstance(values.get(section), dict):
            values[section].update(change)
        else:
            values[section] = copy.deepcopy(change)
    return values


def config_of(allow_plugins: bool = False, **changes: Any) -> Config:
    """A changed config, checked."""
    values = config(**changes)
    return check_config(values, "c.toml", "/folder", allow_plugins=allow_plugins)


def complaint(allow_plugins: bool = False, **changes: Any) -> str:
    """What is said of a changed config, without the name of its file."""
    with pytest.raises(UserError) as error:
        config_of(allow_plugins, **changes)
    text = str(error.value)
    assert text.startswith("c.toml: ")
    return text.removeprefix("c.toml: ")
