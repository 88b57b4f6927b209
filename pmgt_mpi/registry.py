"""Names in a config, and the classes and functions they stand for.

A registry is a table of names and ``module:object`` addresses. Nothing is imported
until it is asked for: twenty ranks would pay every import twenty times.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeGuard

from pmgt_mpi.errors import UserError, shortened


def nearest(word: str, valid: list[str]) -> str:
    """Say which valid word is meant, or which ones there are."""
    import difflib  # for a message only

    close = difflib.get_close_matches(word, valid, n=1)
    hint = f"did you mean '{close[0]}'? " if close else ""
    return f"{hint}valid: {', '.join(valid)}"


def import_object(address: str) -> Any:
    """Import ``module:object``, and say what is wrong with it if it cannot be."""
    module_name, _, attribute = address.partition(":")
    try:
        if not module_name or module_name.startswith("."):
            raise ImportError(f"'{module_name}' is not the full name of a module")
        return getattr(importlib.import_module(module_name), attribute)
    except (ImportError, AttributeError) as error:
        raise UserError(
            f"cannot import '{address}': {error}; expected 'module:Class' with the "
            "module on the Python path (the current folder is on it)"
        ) from error


def address_of(kind: type) -> str:
    """Return ``module:Class``."""
    return f"{kind.__module__}:{kind.__qualname__}"


def is_named(thing: object) -> TypeGuard[str | Mapping[str, Any]]:
    """Whether something is a name, or a mapping with one, and not the thing itself."""
    return isinstance(thing, str | Mapping)


class Registry(Mapping[str, str]):
    """A table of names, each with the address of what it stands for.

    Parameters
    ----------
    kind
        What the names are names of, for messages: ``"algorithm"``, ``"graph"``.
    entries
        Name and ``module:object`` for each.
    """

    def __init__(self, kind: str, entries: dict[str, str]) -> None:
        self.kind = kind
        self._entries = entries

    def __getitem__(self, name: str) -> str:
        return self._entries[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def address(self, name: str, *, allow_plugins: bool | None = None) -> str:
        """Return the address of a name, or of a user's own ``module:Class``.

        Parameters
        ----------
        name
            As in a config.
        allow_plugins
            Whether code of the user's own may be named; None where there can be none.
        """
        if name in self._entries:
            return self._entries[name]
        if ":" in name and allow_plugins is not None:
            if allow_plugins:
                return name
            raise UserError(
                f"{self.kind} '{shortened(name)}' is code of your own, and a config "
                "executes none unless you say so; add --allow-plugins if you trust it"
            )
        raise UserError(
            f"unknown {self.kind} '{shortened(name)}'; {nearest(name, list(self))}"
        )

    def load(self, name: str) -> Callable[..., Any]:
        """Import what a name stands for, or a ``module:Class`` that was allowed."""
        return import_object(self.address(name, allow_plugins=True))  # type: ignore[no-any-return]

    def summary(self, name: str) -> str:
        """Return the first line of the docstring of what a name stands for."""
        return (inspect.getdoc(self.load(name)) or "").partition("\n")[0]
