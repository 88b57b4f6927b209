"""What the documents say is what the code says, and their links lead somewhere."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
import textwrap
import tomllib
from dataclasses import fields
from itertools import chain
from typing import Annotated, Literal

import pytest

import pmgt_mpi
from pmgt_mpi.algorithms import METHODS
from pmgt_mpi.algorithms.traits import Traits
from pmgt_mpi.api import Result
from pmgt_mpi.config.read import check_config
from pmgt_mpi.data import PARTITIONS, SCALINGS, SOURCES
from pmgt_mpi.errors import UserError
from pmgt_mpi.gossip import EXCHANGES, MIXINGS
from pmgt_mpi.graphs import TOPOLOGIES, WEIGHTS
from pmgt_mpi.options import (
    Count,
    FilePath,
    NonNegative,
    Positive,
    Probability,
    Rounds,
    Strength,
    Within,
)
from pmgt_mpi.problems import PROBLEMS
from pmgt_mpi.regularizers import REGULARIZERS
from scripts import config_reference
from tests.launcher import ROOT
from tests.support.documents import (
    DOCUMENTS,
    anchors,
    block,
    links,
    quoted,
    rows_of,
    table,
    text_of,
)

names = pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)


def test_the_readme_is_short():
    assert len(text_of("README.md").splitlines()) <= 180


def test_the_readme_leads_to_every_document():
    targets = {(ROOT / target).resolve() for target in links(ROOT / "README.md")}
    assert set(DOCUMENTS) - {ROOT / "README.md"} <= targets


@names
def test_every_link_leads_to_a_file_and_a_heading(path):
    for target in links(path):
        name, _, anchor = target.partition("#")
        file = (path.parent / name).resolve() if name else path
        assert file.exists(), f"{path.name} links to {target}"
        assert not anchor or anchor in anchors(file), f"{path.name} links to {target}"


@names
def test_every_file_that_is_named_is_there(path):
    named = re.findall(
        r"`((?:pmgt_mpi|docs|tests|scripts|configs|launch)/[\w./-]+)`", path.read_text()
    )
    missing = [name for name in named if not (ROOT / name).exists()]
    assert not missing


# How it is built.


def test_the_rooms_are_all_told_of_once_in_the_order_of_the_contract():
    page = text_of("docs/architecture.md").partition("\n## ")[0]
    named = chain(*(quoted(row[0]) for row in rows_of(page)))
    rooms = [name for name in named if name != "pmgt_mpi.solve"]
    folder = ROOT / "pmgt_mpi"
    there = {path.name for path in folder.glob("*.py")} - {"__init__.py"}
    there |= {f"{path.parent.name}/" for path in folder.glob("*/__init__.py")}
    assert sorted(rooms) == sorted(there)
    with (ROOT / "pyproject.toml").open("rb") as file:
        contract = tomllib.load(file)["tool"]["importlinter"]["contracts"][0]
    layer = {
        name.strip(): number
        for number, names in enumerate(contract["layers"])
        for name in names.split("|")
    }
    order = [layer[name.removesuffix(".py").strip("/")] for name in rooms]
    until = order.index(layer["mpi"]) + 1  # below it the document has one line for all
    assert order[:until] == sorted(order[:until])


def test_the_table_of_changes_names_what_is_there():
    page = text_of("docs/architecture.md").partition("## I want to change")[2]
    folder = ROOT / "pmgt_mpi"
    for _, where in rows_of(page):
        paths = [name for name in quoted(where) if "/" in name or name.endswith(".py")]
        assert paths, where
        for name in paths:
            if name != "__init__.py" and "NAME" not in name:
                assert (folder / name).exists(), where
        for thing, name in re.findall(r"`([\w.]+)` in `([\w/]+\.py)`", where):
            code = (folder / name).read_text()
            for part in thing.split("."):
                assert re.search(rf"^ *(class|def) {part}\b", code, re.MULTILINE), where


# The README.


def test_the_output_has_the_columns_of_the_table():
    shown = block("README.md", "output: quickstart")
    for word in ("algorithm", "pmgt-katyushax", "nids", "run folder: runs/quickstart-"):
        assert word in shown


@pytest.mark.parametrize(
    ("document", "mark", "labels"),
    [
        ("README.md", "config: smallest", ["pmgt-katyushax"]),
        ("docs/configuration.md", "config", ["pmgt-katyushax", "NIDS, large step"]),
    ],
)
def test_the_configs_are_valid(document, mark, labels):
    config = check_config(tomllib.loads(block(document, mark)), document, ".")
    assert [section.label for section in config.algorithm] == labels


@pytest.mark.parametrize("document", ["docs/gossip.md", "docs/data.md"])
def test_the_sections_that_are_shown_are_valid(document):
    shown = re.findall(r"```toml\n(.*?)```", text_of(document), re.DOTALL)
    assert shown
    for text in shown:
        check_config({**SMALLEST, **tomllib.loads(text)}, document, ".")


# The methods.

CLASSES = {
    "components": "convex f_ij",
    "agents": "convex f_i",
    "mean": "nonconvex f_ij",
}


def setting_of(traits: Traits) -> str:
    if traits.finds == "eigenvectors":
        return "eigenvectors"
    return CLASSES[traits.convex] + (", one machine" if traits.alone else "")


def row_of(name: str, traits: Traits) -> str:
    """The line of the table of methods for one of them."""
    cost = traits.cost
    rounds = f"`{cost.rounds}`" + (" of 2 vectors" if cost.vectors == 2 else "")
    prox = "yes" if traits.proximal else ""
    setting = setting_of(traits)
    cells = (f"`{name}`", setting, prox, f"`{cost.gradients}`", rounds, traits.source)
    return "| " + " | ".join(cells) + " |"


@pytest.mark.parametrize("name", METHODS)
def test_the_table_of_methods_says_what_they_say_of_themselves(name):
    assert (
        row_of(name, METHODS.load(name).traits)
        in text_of("docs/methods.md").splitlines()
    )


def test_the_readme_names_every_method_once_under_what_it_is_made_for():
    wanted: dict[str, list[str]] = {}
    for name in METHODS:
        wanted.setdefault(setting_of(METHODS.load(name).traits), []).append(name)
    page = text_of("README.md")
    shown = rows_of(page.partition("## Methods\n")[2].partition("\n\n[")[0])
    assert {setting: quoted(cell) for setting, cell in shown} == wanted
    assert f"beside {len(METHODS) - 2} others" in page


# Code that is shown as it stands in a file.


@pytest.mark.parametrize(
    "source", ["pmgt_mpi/algorithms/nids.py", "pmgt_mpi/graphs/topologies.py"]
)
def test_the_code_shown_is_that_of_its_file(source):
    shown = textwrap.dedent(block("docs/extending.md", f"source: {source}"))
    lines = [line.strip() for line in shown.strip().splitlines()]
    in_file = [line.strip() for line in (ROOT / source).read_text().splitlines()]
    start = in_file.index(lines[0])
    assert in_file[start : start + len(lines)] == lines


# Names and their sentences.


@pytest.mark.parametrize(
    ("document", "name", "registry"),
    [
        ("docs/gossip.md", "TOPOLOGIES", TOPOLOGIES),
        ("docs/gossip.md", "WEIGHTS", WEIGHTS),
        ("docs/gossip.md", "MIXINGS", MIXINGS),
        ("docs/data.md", "SOURCES", SOURCES),
        ("docs/data.md", "PARTITIONS", PARTITIONS),
        ("docs/data.md", "SCALINGS", SCALINGS),
    ],
)
def test_the_tables_of_names_say_what_list_says(document, name, registry):
    wanted = [[f"`{key}`", registry.summary(key)] for key in registry]
    assert table(document, f"names: {name}") == wanted


# Arguments of solve.


def test_every_argument_and_every_result_of_solve_is_told():
    page = text_of("docs/python.md")
    arguments, result = re.findall(r"^\|.*?(?=\n\n)", page, re.DOTALL | re.MULTILINE)
    told = [
        list(chain(*(quoted(row[0]) for row in rows_of(t))))
        for t in (arguments, result)
    ]
    assert sorted(told[0]) == sorted(inspect.signature(pmgt_mpi.solve).parameters)
    assert sorted(told[1]) == sorted(field.name for field in fields(Result))


# The reference of the config: keys and defaults are held against what is accepted.

SMALLEST = {
    "data": {"source": "bernoulli", "rows": 8, "columns": 2},
    "problem": {"kind": "ridge"},
    "algorithm": [{"name": "nids"}],
}

REQUIRED = {
    "rows": 8,
    "columns": 2,
    "path": "rows.npy",
    "strength": 0.5,
    "l1": 0.5,
    "l2": 0.5,
}
"""Values for options without a default."""

NAMED = {
    "network": ("topology", TOPOLOGIES),
    "data": ("source", SOURCES),
    "problem": ("kind", PROBLEMS),
    "regularizer": ("kind", REGULARIZERS),
    "algorithm": ("name", METHODS),
}
"""Sections whose keys depend on what they name."""


def reference() -> dict[str, tuple[dict[str, str], dict[str, dict[str, str]]]]:
    """For each section its keys, and the options of each name: key and default."""
    page = text_of("docs/configuration.md").partition("## Reference\n")[2]
    sections = {}
    for part in page.split("\n### ")[1:]:
        title, _, body = part.partition("\n")
        fixed: dict[str, str] = {}
        options: dict[str, dict[str, str]] = {}
        for text in re.findall(r"^\|.*?(?=\n\n|\Z)", body, re.DOTALL | re.MULTILINE):
            if text.startswith("| key |"):
                fixed = {quoted(row[0])[0]: row[1] for row in rows_of(text)}
            elif text.startswith("| for |"):
                for whose, key, default, *_ in rows_of(text):
                    for name in quoted(whose):
                        options.setdefault(name, {})[quoted(key)[0]] = default
        sections[title.strip("`[]")] = fixed, options
    return sections


REFERENCE = reference()

CASES = [
    (section, name)
    for section in REFERENCE
    for name in (NAMED[section][1] if section in NAMED else [None])
]


def config_with(section: str, values: dict[str, object]) -> dict[str, object]:
    whole = dict(SMALLEST)
    whole[section] = [values] if section == "algorithm" else values
    return whole


def smallest(section: str, name: str | None) -> dict[str, object]:
    """The least that a section may hold."""
    if name is None:
        return {}
    _, options = REFERENCE[section]
    told = options.get(name, {})
    values = {key: REQUIRED[key] for key, text in told.items() if text == "required"}
    return {NAMED[section][0]: name, **values}


def test_the_tables_of_the_reference_are_those_of_the_types():
    script = ROOT / "scripts" / "config_reference.py"
    done = subprocess.run(
        [sys.executable, script, "--check"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_table_that_is_not_that_of_the_types_is_found():
    page = text_of("docs/configuration.md")
    assert config_reference.written(page) == page
    other = page.replace(
        "| `timeout` | `600.0` | > 0 |", "| `timeout` | `60.0` | > 0 |"
    )
    assert other != page
    assert config_reference.written(other) == page


@pytest.mark.parametrize(
    ("annotation", "told"),
    [
        (Positive, "> 0"),
        (NonNegative, "≥ 0"),
        (Strength, "in [0, 1e15]"),
        (Probability, "in (0, 1]"),
        (Count, "count"),
        (Rounds | Literal["auto"], 'count up to 1e6, `"auto"`'),
        (int, "whole number"),
        (Annotated[int, Within(ge=0)] | None, "whole number ≥ 0"),
        (float | None, "number"),
        (bool, "`true`, `false`"),
        (FilePath | None, "path"),
        (list[Positive] | None, "a list (each > 0)"),
        (Annotated[str, EXCHANGES], '`"isend"`, `"persistent"`'),
        (Annotated[str | None, WEIGHTS], "a name of the [weights](gossip.md#weights)"),
    ],
)
def test_what_a_value_may_be_is_told_from_its_type(annotation, told):
    assert config_reference.allowed(annotation) == told


def test_the_reference_has_every_section():
    with pytest.raises(UserError) as refused:
        check_config({**SMALLEST, "zzz": {}}, "here", ".")
    assert str(refused.value).split("valid: ")[1].split(", ") == list(REFERENCE)


@pytest.mark.parametrize(("section", "name"), CASES)
def test_the_reference_has_every_key(section, name):
    fixed, options = REFERENCE[section]
    values = {**smallest(section, name), "zzz": 1}
    with pytest.raises(UserError) as refused:
        check_config(config_with(section, values), "here", ".")
    valid = re.search(r"valid: ([\w, ]+)", str(refused.value))
    assert valid
    assert set(valid.group(1).split(", ")) == {*fixed, *options.get(name, {})}


@pytest.mark.parametrize(("section", "name"), CASES)
def test_the_reference_has_every_default(section, name):
    fixed, options = REFERENCE[section]
    least = smallest(section, name)
    config = check_config(config_with(section, least), "here", ".")
    for key, text in {**fixed, **options.get(name, {})}.items():
        if text == "required":
            fewer = {other: value for other, value in least.items() if other != key}
            with pytest.raises(UserError):
                check_config(config_with(section, fewer), "here", ".")
        elif key not in least and re.fullmatch("`[^`]+`", text):
            told = {**least, key: tomllib.loads(f"value = {text[1:-1]}")["value"]}
            assert check_config(config_with(section, told), "here", ".") == config, key


def test_no_name_of_the_reference_is_unknown():
    for section, (_, options) in REFERENCE.items():
        assert set(options) <= set(NAMED[section][1] if section in NAMED else ())
    kinds = text_of("docs/configuration.md")
    for name in (*PROBLEMS, *REGULARIZERS):
        assert f"| `{name}` | " in kinds
