"""Registries: names, addresses, hints, and what every entry keeps to."""

from __future__ import annotations

import subprocess
import sys

import pytest

from pmgt_mpi.algorithms import ALGORITHMS
from pmgt_mpi.config.checking import option_fields
from pmgt_mpi.data import PARTITIONS, SCALINGS, SOURCES
from pmgt_mpi.errors import UserError
from pmgt_mpi.gossip import EXCHANGES, MIXINGS
from pmgt_mpi.graphs import TOPOLOGIES, WEIGHTS
from pmgt_mpi.problems import PROBLEMS
from pmgt_mpi.registry import Registry, import_object, nearest
from pmgt_mpi.regularizers import REGULARIZERS

REGISTRIES = [
    ALGORITHMS, EXCHANGES, MIXINGS, PARTITIONS, PROBLEMS, REGULARIZERS, SCALINGS,
    SOURCES, TOPOLOGIES, WEIGHTS,
]  # fmt: skip
ENTRIES = [
    pytest.param(registry, name, id=f"{registry.kind}-{name}")
    for registry in REGISTRIES
    for name in registry
]
FRUIT = Registry("fruit", {"apple": "json:loads", "pear": "json:JSONDecoder"})


def complaint(function, *arguments, **options):
    with pytest.raises(UserError) as error:
        function(*arguments, **options)
    return str(error.value)


@pytest.mark.parametrize(("registry", "name"), ENTRIES)
def test_an_entry_has_a_sentence_that_says_what_it_is(registry, name):
    assert callable(registry.load(name))
    sentence = registry.summary(name)
    assert sentence.endswith((".", "::")), sentence
    assert len(sentence) > 5


@pytest.mark.parametrize(("registry", "name"), ENTRIES)
def test_an_entry_is_named_as_a_user_types_it(registry, name):
    assert name == name.lower()
    assert "_" not in name
    module, _, attribute = registry[name].partition(":")
    assert module.startswith("pmgt_mpi.")
    assert attribute.isidentifier()
    target = registry.load(name)
    assert target.__module__ == module, "the address is where it is defined"


@pytest.mark.parametrize(("registry", "name"), ENTRIES)
def test_the_options_of_an_entry_have_types(registry, name):
    hints = registry.load(name)
    for option, (annotation, _) in option_fields(hints).items():
        assert annotation is not None
        assert annotation is not object
        assert str(annotation) != "typing.Any", option


def test_kinds_and_addresses_are_not_used_twice():
    kinds = [registry.kind for registry in REGISTRIES]
    addresses = [registry[name] for registry in REGISTRIES for name in registry]
    assert len(set(kinds)) == len(kinds)
    assert len(set(addresses)) == len(addresses)


def test_a_registry_is_a_mapping_of_names_to_addresses():
    assert list(FRUIT) == ["apple", "pear"]
    assert len(FRUIT) == 2
    assert FRUIT["pear"] == FRUIT.address("pear") == "json:JSONDecoder"
    assert "plum" not in FRUIT
    assert FRUIT.load("apple")("[1]") == [1]
    assert FRUIT.summary("pear") == "Simple JSON <https://json.org> decoder"


def test_the_tables_import_nothing():
    program = (
        "import sys, pmgt_mpi.algorithms, pmgt_mpi.data, pmgt_mpi.gossip, "
        "pmgt_mpi.graphs, pmgt_mpi.problems, pmgt_mpi.regularizers; "
        "sys.exit(len({'numpy', 'scipy', 'networkx', 'mpi4py'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_an_unknown_name():
    assert complaint(FRUIT.address, "appel") == (
        "unknown fruit 'appel'; did you mean 'apple'? valid: apple, pear"
    )
    assert complaint(FRUIT.load, "zucchini") == (
        "unknown fruit 'zucchini'; valid: apple, pear"
    )


def test_code_of_the_users_own():
    assert FRUIT.address("my.module:Plum", allow_plugins=True) == "my.module:Plum"
    assert FRUIT.address("apple", allow_plugins=False) == "json:loads"
    assert complaint(FRUIT.address, "my.module:Plum", allow_plugins=False) == (
        "fruit 'my.module:Plum' is code of your own, and a config executes none unless "
        "you say so; add --allow-plugins if you trust it"
    )
    assert complaint(FRUIT.address, "my.module:Plum") == (
        "unknown fruit 'my.module:Plum'; valid: apple, pear"
    )


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("no_such_module:X", "No module named 'no_such_module'"),
        ("json:nothing", "module 'json' has no attribute 'nothing'"),
        ("json:", "module 'json' has no attribute ''"),
        ("json", "module 'json' has no attribute ''"),
        (":X", "'' is not the full name of a module"),
        (".json:X", "'.json' is not the full name of a module"),
    ],
)
def test_what_cannot_be_imported(address, why):
    assert complaint(import_object, address) == (
        f"cannot import '{address}': {why}; expected 'module:Class' with the module on "
        "the Python path (the current folder is on it)"
    )


def test_a_fault_inside_the_users_module_is_not_hidden(tmp_path, monkeypatch):
    (tmp_path / "faulty_parts.py").write_text("x = 1 / 0\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ZeroDivisionError):
        import_object("faulty_parts:x")


def test_nearest():
    assert nearest("stepp", ["steps", "seconds"]) == (
        "did you mean 'steps'? valid: steps, seconds"
    )
    assert nearest("q", ["steps", "seconds"]) == "valid: steps, seconds"
    assert nearest("q", []) == "valid: "
