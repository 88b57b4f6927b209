"""Writing a config as TOML, with every default, so that what is read is equal."""

from __future__ import annotations

from dataclasses import asdict, fields, is_dataclass
from typing import Any

from pmgt_mpi.config.schema import Config


def toml_values(config: Config) -> dict[str, Any]:
    """Return the sections with their keys, as TOML has them.

    An algorithm has what is its own: the rest it has from [mixing], [stop] and
    [evaluate], so that --set changes it there for all.
    """
    values: dict[str, Any] = {}
    for field in fields(config):
        section = getattr(config, field.name)
        if is_dataclass(section):
            values[field.name] = section_values(section)
    values["algorithm"] = [section_values(section) for section in config.algorithm]
    return values


def section_values(section: Any) -> dict[str, Any]:
    """Return the keys of a section, without what is not set: TOML has no null."""
    values: dict[str, Any] = {}
    for field in fields(section):
        value = getattr(section, field.name)
        if is_dataclass(value):  # a method
            values.update(asdict(value))  # type: ignore[arg-type]
        elif isinstance(value, dict):  # options
            values.update(value)
        else:
            values[field.name] = value
    return {key: value for key, value in values.items() if value is not None}
