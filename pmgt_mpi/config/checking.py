"""Checking a section of the config against a signature, with messages for people.

The options of a registered class or function are its keyword-only parameters: a
pydantic model is made from their annotations, and its complaints are turned into one
sentence with section, key, value and what was expected.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from pmgt_mpi.config.plan import Part
from pmgt_mpi.errors import UserError
from pmgt_mpi.registry import Registry, import_object, nearest

STRICT = ConfigDict(extra="forbid", strict=True, defer_build=True)
"""Of every section. Half of the models only lend their fields, and need no building."""


class Section(BaseModel):
    """A section with fixed keys."""

    model_config = STRICT


def option_fields(target: Callable[..., Any]) -> dict[str, Any]:
    """Keyword-only parameters of a class or function: name, annotation, default."""
    initialiser = target.__init__ if inspect.isclass(target) else target
    hints = get_type_hints(initialiser, include_extras=True)
    return {
        name: (
            hints.get(name, Any),
            ... if parameter.default is parameter.empty else parameter.default,
        )
        for name, parameter in inspect.signature(target).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY
    }


def check(model: type[BaseModel], values: object, where: str) -> dict[str, Any]:
    """Check a section's values; return them with the defaults filled in.

    Parameters
    ----------
    model
        What the section may hold.
    values
        What it holds.
    where
        File and section, for the message.
    """
    if not isinstance(values, dict):
        raise UserError(f"{where} must be a section with keys, not {values!r}")
    try:
        checked = model.model_validate(values)
    except ValidationError as error:
        raise UserError(f"{where} {_sentence(error, model)}") from None
    return {name: getattr(checked, name) for name in type(checked).model_fields}


def check_part(
    registry: Registry,
    key: str,
    values: dict[str, Any],
    fixed: type[BaseModel],
    where: str,
    *,
    allow_plugins: bool | None,
) -> tuple[Part, dict[str, Any]]:
    """Check a section that names something registered and holds its options.

    Parameters
    ----------
    registry, key
        What may be named, and the key that names it.
    values
        The section.
    fixed
        The keys that the section has whatever is named in it.
    where
        File and section, for messages.
    allow_plugins
        Whether ``module:Class`` may be named; None where it never may.

    Returns
    -------
    tuple
        What was named with its options, and the fixed keys.
    """
    if not isinstance(values, dict):
        raise UserError(f"{where} must be a section with keys, not {values!r}")
    name = values.get(key)
    if not isinstance(name, str):
        found = "is missing" if name is None else f"= {name!r} is not a name"
        raise UserError(f"{where} {key} {found}; valid: {', '.join(registry)}")
    try:
        address = registry.address(name, allow_plugins=allow_plugins)
    except UserError as error:
        raise UserError(f"{where} {error}") from None
    options = option_fields(import_object(address))
    fields = {
        field: (info.annotation, info) for field, info in fixed.model_fields.items()
    }
    for option in options.keys() & fields.keys():
        raise UserError(
            f"{where} {registry.kind} '{name}' has an option '{option}', a key that "
            "means something else in this section; give the option another name"
        )
    model = create_model(f"{key} {name}", __config__=STRICT, **{**options, **fields})
    checked = check(model, values, f"{where} ({name})")
    part = Part(name, address, {option: checked[option] for option in options})
    return part, {field: checked[field] for field in fields}


def _sentence(error: ValidationError, model: type[BaseModel]) -> str:
    """Say what is wrong with the first key that is wrong, and how many more are."""
    # A key that is not known comes first: it may be the one that is missed, misspelt.
    complaints = sorted(error.errors(), key=lambda c: c["type"] != "extra_forbidden")
    key = complaints[0]["loc"][0] if complaints[0]["loc"] else ""
    about_key = [c for c in complaints if c["loc"] and c["loc"][0] == key]
    first = about_key[0]
    if first["type"] == "extra_forbidden":
        text = f"has no key '{key}'; {nearest(str(key), list(model.model_fields))}"
    elif first["type"] == "missing":
        text = f"needs the key '{key}'"
    else:
        wanted = dict.fromkeys(
            c["msg"]
            .replace("Input should be ", "")
            .replace("Value error, ", "")
            .replace("less than inf", "a finite number")
            for c in about_key
        )
        text = f"{key} = {first['input']!r}: expected {' or '.join(wanted)}"
    keys = dict.fromkeys(str(c["loc"][0]) for c in complaints if c["loc"])
    others = [other for other in keys if other != key]
    return text + (f" (wrong too: {', '.join(others)})" if others else "")
