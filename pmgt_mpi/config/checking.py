"""Checking a section of the config against its type, with messages for people.

The keys of a section are the fields of its dataclass and, where it names something
registered, the keyword-only parameters of that. A pydantic model is made from their
annotations, and its complaints are turned into one sentence with section, key, value
and what was expected.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import is_dataclass
from typing import Any, NamedTuple, get_type_hints

from pydantic import ConfigDict, ValidationError, create_model

from pmgt_mpi.errors import UserError, shortened
from pmgt_mpi.options import LARGEST, OF_NAMED, has_large
from pmgt_mpi.registry import Registry, import_object, nearest

STRICT = ConfigDict(extra="forbid", strict=True)

Fields = dict[str, Any]
"""Annotation and default (... if there is none), by name."""


def option_fields(target: Callable[..., Any]) -> Fields:
    """Options of a class or function: name, annotation, default.

    They are the fields of a dataclass, else the keyword-only parameters.
    """
    kinds: set[Any] = {inspect.Parameter.KEYWORD_ONLY}
    if is_dataclass(target):
        kinds.add(inspect.Parameter.POSITIONAL_OR_KEYWORD)
    initialiser = target.__init__ if inspect.isclass(target) else target
    hints = get_type_hints(initialiser, include_extras=True)
    return {
        name: (
            hints.get(name, Any),
            ... if parameter.default is parameter.empty else parameter.default,
        )
        for name, parameter in inspect.signature(target).parameters.items()
        if parameter.kind in kinds
    }


def keys_of(section: type) -> Fields:
    """Fields of a section that are its own keys, and not those of what it names."""
    return {
        name: (annotation, default)
        for name, (annotation, default) in option_fields(section).items()
        if OF_NAMED not in getattr(annotation, "__metadata__", ())
    }


def registry_of(annotation: Any) -> Registry | None:
    """Return the registry that a field's annotation says its names are from."""
    metadata = getattr(annotation, "__metadata__", ())
    return next((x for x in metadata if isinstance(x, Registry)), None)


def check(fields: Fields, values: object, where: str) -> dict[str, Any]:
    """Check a section's values; return them with the defaults filled in.

    Parameters
    ----------
    fields
        What the section may hold.
    values
        What it holds.
    where
        File and section, for the message.
    """
    if not isinstance(values, dict):
        raise UserError(f"{where} must be a section with keys, not {shown(values)}")
    model = create_model("section", __config__=STRICT, **fields)
    try:
        checked = model.model_validate(values)
    except ValidationError as error:
        raise UserError(f"{where} {_sentence(error, list(fields))}") from None
    return {name: getattr(checked, name) for name in fields}


def shown(value: object) -> str:
    """Write a value out as a message can hold it."""
    return shortened(value, 200, repr)


def refuse_large(values: Mapping[str, Any], where: str) -> None:
    """Refuse an integer of more than 64 bits, which no key can use."""
    for key, value in values.items():
        if has_large(value):
            raise UserError(
                f"{where} {key} holds an integer of more than 64 bits; expected "
                f"numbers up to {LARGEST} in size"
            )


def check_names(fields: Fields, checked: dict[str, Any], where: str) -> None:
    """Refuse a value that is not among the registered names of its key."""
    for key, (annotation, _) in fields.items():
        registry = registry_of(annotation)
        if registry is not None and checked[key] is not None:
            try:
                registry.address(checked[key])
            except UserError as error:
                raise UserError(f"{where} {error}") from None


class Named(NamedTuple):
    """Something registered that a section names, with the options that it gives it."""

    target: Callable[..., Any]
    options: dict[str, Any]


def check_section(section: type, values: object, where: str) -> dict[str, Any]:
    """Check a section that names nothing with options; return its keys."""
    fields = keys_of(section)
    checked = check(fields, values, where)
    check_names(fields, checked, where)
    return checked


def check_named(
    section: type, key: str, values: object, where: str, *, allow_plugins: bool | None
) -> tuple[Named, dict[str, Any]]:
    """Check a section that names something registered and holds its options.

    Parameters
    ----------
    section, key
        Its type, and the key that names it.
    values
        The section.
    where
        File and section, for messages.
    allow_plugins
        Whether ``module:Class`` may be named; None where it never may.

    Returns
    -------
    tuple
        What was named with its options, and the section's own keys.
    """
    fields = keys_of(section)
    registry = registry_of(fields[key][0])
    assert registry is not None
    if not isinstance(values, dict):
        raise UserError(f"{where} must be a section with keys, not {shown(values)}")
    name = values.get(key)
    if not isinstance(name, str):
        found = "is missing" if name is None else f"= {shown(name)} is not a name"
        raise UserError(f"{where} {key} {found}; valid: {', '.join(registry)}")
    try:
        address = registry.address(name, allow_plugins=allow_plugins)
    except UserError as error:
        raise UserError(f"{where} {error}") from None
    target = import_object(address)
    options = option_fields(target)
    for option in options.keys() & fields.keys():
        raise UserError(
            f"{where} {registry.kind} '{name}' has an option '{option}', a key that "
            "means something else in this section; give the option another name"
        )
    checked = check({**options, **fields}, values, f"{where} ({name})")
    own = {field: checked[field] for field in fields}
    others = {field: about for field, about in fields.items() if field != key}
    check_names(others, own, where)
    return Named(target, {option: checked[option] for option in options}), own


def _sentence(error: ValidationError, valid: list[str]) -> str:
    """Say what is wrong with the first key that is wrong, and how many more are."""
    # A key that is not known comes first: it may be the one that is missed, misspelt.
    complaints = sorted(error.errors(), key=lambda c: c["type"] != "extra_forbidden")
    key = complaints[0]["loc"][0] if complaints[0]["loc"] else ""
    about_key = [c for c in complaints if c["loc"] and c["loc"][0] == key]
    first = about_key[0]
    if first["type"] == "extra_forbidden":
        text = f"has no key '{key}'; {nearest(str(key), valid)}"
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
        text = f"{key} = {shown(first['input'])}: expected {' or '.join(wanted)}"
    keys = dict.fromkeys(str(c["loc"][0]) for c in complaints if c["loc"])
    others = [other for other in keys if other != key]
    return text + (f" (wrong too: {', '.join(others)})" if others else "")
