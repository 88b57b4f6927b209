"""The algorithms that the tests run, with numbers for their parameters.

They are all that are registered, or, with ``--plugin module:Class``, a user's own: then
a name is that address.
"""

from __future__ import annotations

from dataclasses import MISSING, fields, is_dataclass
from typing import Any

from pmgt_mpi.algorithms import ALGORITHMS
from pmgt_mpi.algorithms.traits import Cost, Traits
from pmgt_mpi.errors import UserError
from pmgt_mpi.registry import import_object

NUMBERS: dict[str, Any] = {
    "batch_size": 3,
    "step_size": 0.02,
    "momentum": 0.3,
    "mix_rounds": 6,
    "inner_rounds": 4,
    "inner_steps": 5,
    "period": 4,
    "probability": 0.3,
    "activation": 0.6,
    "relaxation": 0.9,
    "row_step": 0.01,
    "dual_step": 0.2,
    "convexity": 0.05,
    "inner_step_size": 0.01,
}
"""Values that are good enough for a few steps on a small, well-conditioned problem."""

UNKNOWN = Traits(source="", cost=Cost(gradients="", paper="", rounds=""))
"""Traits of a user's class that tells none: no proximal step, any number of agents."""

NEEDED = ("init", "step", "solution", "resolve")

OWN_NUMBERS: dict[str, dict[str, Any]] = {
    "adfs": {"step_size": 0.002},  # half of what it gives to any one row
}

METHODS: dict[str, Any] = {
    name: method(
        **{f.name: NUMBERS[f.name] for f in fields(method)}  # type: ignore[arg-type]
        | OWN_NUMBERS.get(name, {})
    )
    for name, method in ((name, ALGORITHMS.load(name)) for name in ALGORITHMS)
}

TRAITS: dict[str, Traits] = {name: method.traits for name, method in METHODS.items()}

ON_NETWORKS = [name for name, traits in TRAITS.items() if not traits.alone]
"""Methods that run on any number of agents."""


def fits(name: str, agents: int) -> bool:
    """Whether a method runs on so many agents."""
    return agents == 1 or not TRAITS[name].alone


def asked(name: str, **options: Any) -> Any:
    """Return what `solve` takes for a method with these options, and defaults."""
    given = {f.name: NUMBERS[f.name] for f in fields(METHODS[name]) if required(f)}
    return {"name": name, **given, **options}


def check_only(addresses: list[str]) -> None:
    """Let the tests see these classes of a user's instead of what is registered.

    To be called before the modules of tests are imported: they list the methods.
    """
    METHODS.clear()
    TRAITS.clear()
    for address in addresses:
        METHODS[address] = with_numbers(address)
        TRAITS[address] = getattr(METHODS[address], "traits", UNKNOWN)
    ON_NETWORKS[:] = [name for name, traits in TRAITS.items() if not traits.alone]


def with_numbers(address: str) -> Any:
    """Make a user's algorithm whose every parameter has a number.

    It is the default, if that is one; else that of `NUMBERS`.
    """
    method = import_object(address)
    if not (isinstance(method, type) and is_dataclass(method)):
        raise UserError(f"{address} is not a dataclass, as an algorithm has to be")
    for name in NEEDED:
        if not hasattr(method, name):
            hint = " (`return self`, if all its parameters are numbers)"
            raise UserError(
                f"{address} has no method {name}, which a run calls; add it"
                f"{hint if name == 'resolve' else ''}"
            )
    numbers = {}
    for f in fields(method):
        if not isinstance(f.default, int | float):
            if f.name not in NUMBERS:
                raise UserError(
                    f"{address} has a parameter {f.name} for which the tests know no "
                    "number; give it a number for its default"
                )
            numbers[f.name] = NUMBERS[f.name]
    return method(**numbers)


def required(field: Any) -> bool:
    """Whether a field has no default."""
    return field.default is MISSING and field.default_factory is MISSING
