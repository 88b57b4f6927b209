"""Write the tables of keys in docs/configuration.md from the types of the config.

    python scripts/config_reference.py [--check]

A key, its default and what it may be are those of the types from which a config is
checked; what it is for stands beside the field, in the docstring of its class. In the
page a table follows a comment ``<!-- keys: SECTION -->`` or ``<!-- options: SECTION
-->``; the prose around them is left as it is. With --check nothing is written, and the
exit code is 1 where the page is not what it would be.
"""

from __future__ import annotations

import inspect
import re
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from math import inf
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

from pmgt_mpi.algorithms import METHODS
from pmgt_mpi.config import sections
from pmgt_mpi.config.checking import Fields, keys_of, option_fields
from pmgt_mpi.data import PARTITIONS, SCALINGS, SOURCES
from pmgt_mpi.gossip import MIXINGS
from pmgt_mpi.graphs import TOPOLOGIES, WEIGHTS
from pmgt_mpi.options import FILE, Within
from pmgt_mpi.problems import PROBLEMS
from pmgt_mpi.registry import Registry
from pmgt_mpi.regularizers import REGULARIZERS

PAGE = Path(__file__).parents[1] / "docs" / "configuration.md"

SECTIONS = {
    "run": sections.RunSection,
    "network": sections.NetworkSection,
    "mixing": sections.MixingSection,
    "data": sections.DataSection,
    "problem": sections.ProblemSection,
    "regularizer": sections.RegularizerSection,
    "stop": sections.StopSection,
    "evaluate": sections.EvaluateSection,
    "checkpoint": sections.CheckpointSection,
    "cost": sections.CostSection,
    "algorithm": sections.AlgorithmSection,
}

NAMED = {
    "network": TOPOLOGIES,
    "data": SOURCES,
    "problem": PROBLEMS,
    "regularizer": REGULARIZERS,
    "algorithm": METHODS,
}
"""What a section names, whose options are keys of it too."""

EXPLAINED = (
    (TOPOLOGIES, "[graphs](gossip.md#graphs)"),
    (WEIGHTS, "[weights](gossip.md#weights)"),
    (MIXINGS, "[mixings](gossip.md#mixing)"),
    (SOURCES, "[readers](data.md#readers)"),
    (PARTITIONS, "[partitions](data.md#who-gets-which-rows)"),
    (SCALINGS, "[scalings](data.md#scale-and-layout)"),
    (METHODS, "[methods](methods.md)"),
)
"""Where the names of a registry are explained; of another they are told here."""

MOST = 2**53
"""A whole number that may be as large has no bound that anybody meets."""


class Row(NamedTuple):
    """One key: its default, what it may be, and what it is for."""

    key: str
    default: str
    allowed: str
    about: str


def allowed(annotation: Any) -> str:
    """Say what a value may be."""
    return ", ".join(dict.fromkeys(_parts(annotation)))


def _parts(annotation: Any, marks: Sequence[Any] = ()) -> Iterator[str]:
    origin = get_origin(annotation)
    if origin is Annotated:
        inner, *marks = get_args(annotation)
        yield from _parts(inner, marks)
    elif origin in (Union, types.UnionType):
        for part in get_args(annotation):
            yield from _parts(part, marks)
    elif origin is Literal:
        yield from (_word(value) for value in get_args(annotation))
    elif origin is not None:
        yield f"a list (each {allowed(get_args(annotation)[0])})"
    elif annotation is bool:
        yield from ("`true`", "`false`")
    elif annotation is str:
        yield _text(marks)
    elif annotation in (int, float):
        yield _number(annotation, marks)
    elif annotation is not type(None):
        raise TypeError(f"nobody has said what {annotation} is called")


def _text(marks: Sequence[Any]) -> str:
    for mark in marks:
        if isinstance(mark, Registry):
            for registry, link in EXPLAINED:
                if registry is mark:
                    return f"a name of the {link}"
            return ", ".join(_word(name) for name in mark)
    return "path" if FILE in marks else "text"


def _number(kind: type, marks: Sequence[Any]) -> str:
    bounds: dict[str, float] = {}
    for mark in marks:
        if isinstance(mark, Within):
            bounds |= mark.bounds
    if bounds.get("lt") == inf:
        del bounds["lt"]
    if kind is int and bounds.get("le", 0) >= MOST:
        del bounds["le"]
    if kind is int and bounds == {"ge": 1}:
        return "count"
    noun = "whole number" if kind is int else ""
    low = "≥" if "ge" in bounds else ">"
    least = bounds.get("ge", bounds.get("gt"))
    most = bounds.get("le", bounds.get("lt"))
    if least is None and most is None:
        return noun or "number"
    if most is None:
        return f"{noun} {low} {least:g}".strip()
    if kind is int and least == 1:
        return f"count up to {_short(most)}"
    opening, closing = "[" if low == "≥" else "(", "]" if "le" in bounds else ")"
    within = f"in {opening}{_short(least)}, {_short(most)}{closing}"
    return f"{noun} {within}".strip()


def _short(number: float | None) -> str:
    assert number is not None
    return re.sub(r"e\+?(-?)0*", r"e\1", f"{number:g}")


def _word(value: object) -> str:
    return f'`"{value}"`'


def shown(default: object) -> str:
    """Write a default as TOML does; nothing for what is not there."""
    if default is ...:
        return "required"
    if default is None:
        return ""
    if isinstance(default, bool):
        return f"`{str(default).lower()}`"
    if isinstance(default, float):
        number = re.sub(r"e([+-])0", r"e\1", repr(default))
        return f"`{number}`"
    return _word(default) if isinstance(default, str) else f"`{default}`"


def told(thing: Callable[..., Any]) -> dict[str, str]:
    """Return what the docstring of a class or function says of each parameter."""
    text = inspect.getdoc(thing) or ""
    found = re.search(
        r"^(?:Parameters|Attributes)\n-+\n(.*?)(?=^\w+\n---|\Z)", text, re.S | re.M
    )
    about: dict[str, str] = {}
    for part in re.split(r"\n(?=\S)", found[1].strip() if found else ""):
        names, _, description = part.partition("\n")
        for name in names.split(", "):
            about[name] = " ".join(description.split())
    return about


def rows(fields: Fields, thing: Callable[..., Any]) -> list[Row]:
    """Return a row for each key of a section, or option of what it names."""
    about = told(thing)
    missing = fields.keys() - about.keys()
    if missing:
        raise SystemExit(f"{thing.__name__} does not say what {missing} is for")
    return [
        Row(key, shown(default), allowed(annotation), cell(about[key]))
        for key, (annotation, default) in fields.items()
    ]


def cell(text: str) -> str:
    """Write a sentence of a docstring as a cell of a table."""
    text = text.replace("``", "`").removesuffix(".")
    text = re.sub(r"(?<!`)(\[\w+\])(?![`(])", r"`\1`", text)  # the name of a section
    if re.match(r"A |[A-Z][a-z]", text):
        text = text[0].lower() + text[1:]
    return text.replace("|", "\\|")


def keys(section: str) -> str:
    """Return the table of a section's own keys."""
    kind = SECTIONS[section]
    lines = [
        f"| `{row.key}` | {row.default} | {row.allowed} | {row.about} |"
        for row in rows(keys_of(kind), kind)
    ]
    return "\n".join(["| key | default | may be | |", "|---|---|---|---|", *lines])


def options(section: str) -> str:
    """Return the table of the options of what a section names, equal ones together."""
    names: dict[Row, list[str]] = {}
    letters: dict[Row, list[str]] = {}
    for name in NAMED[section]:
        target = NAMED[section].load(name)
        for row in rows(option_fields(target), target):
            # Of a method's key its letter is enough here.
            letter = re.split(r"[;.]", row.about)[0] if section == "algorithm" else ""
            same = row._replace(about="") if letter else row
            names.setdefault(same, []).append(name)
            letters.setdefault(same, []).append(letter)
    lines = []
    order = list(dict.fromkeys(row.key for row in names))
    several = section == "algorithm"
    for row in sorted(names, key=lambda r: order.index(r.key)) if several else names:
        whose = ", ".join(f"`{name}`" for name in names[row])
        about = row.about or " or ".join(dict.fromkeys(letters[row]))
        lines.append(
            f"| {whose} | `{row.key}` | {row.default} | {row.allowed} | {about} |"
        )
    head = ["| for | key | default | may be | |", "|---|---|---|---|---|"]
    return "\n".join([*head, *lines])


def written(page: str) -> str:
    """Return the page with every table as it is to be."""
    made = {"keys": keys, "options": options}
    marks = re.compile(r"(<!-- (keys|options): (\w+) -->\n)(?:\|[^\n]*\n)*")
    found = [(mark[2], mark[3]) for mark in marks.finditer(page)]
    wanted = [*(("keys", name) for name in SECTIONS), *(("options", n) for n in NAMED)]
    if sorted(found) != sorted(wanted):
        raise SystemExit(f"the page has tables of {found}, and {wanted} are wanted")
    return marks.sub(lambda mark: f"{mark[1]}{made[mark[2]](mark[3])}\n", page)


def main(arguments: list[str]) -> int:
    """Write the page, or say whether it is what it would be."""
    now = PAGE.read_text()
    page = written(now)
    if "--check" in arguments:
        if page != now:
            print(f"{PAGE} is not what the types say; python {' '.join(sys.argv[:1])}")
        return int(page != now)
    PAGE.write_text(page)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
