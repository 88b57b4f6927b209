"""What the package asks of its own algorithms beside what every one keeps to."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields

import pytest

from pmgt_mpi.algorithms import ALGORITHMS
from pmgt_mpi.config.checking import option_fields


def documented(method):
    """Names of the entries in the section Parameters of a class's docstring."""
    text = inspect.getdoc(method)
    section = re.search(r"Parameters\n-+\n(.*?)(\n\w+\n-+\n|\Z)", text, re.DOTALL)
    entries = re.findall(r"^(\S.*)$", section.group(1), re.MULTILINE)
    return {name.strip() for entry in entries for name in entry.split(",")}


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_option_is_documented_and_none_beside_them(name):
    method = ALGORITHMS.load(name)
    assert documented(method) == {field.name for field in fields(method)}
    assert set(option_fields(method)) == documented(method)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_option_has_a_default(name):
    method = ALGORITHMS.load(name)
    assert method() == method()
    assert all(default is not ... for _, default in option_fields(method).values())


@pytest.mark.parametrize("name", ALGORITHMS)
def test_a_source_is_cited(name):
    method = ALGORITHMS.load(name)
    assert "References\n----------\n" in inspect.getdoc(method)
    assert name == inspect.getmodule(method).NAME
