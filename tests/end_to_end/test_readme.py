"""What the README shows is true: config, programs, code and output."""

from __future__ import annotations

import re
import textwrap
import tomllib

import pytest

from pmgt_mpi.algorithms import ALGORITHMS
from pmgt_mpi.algorithms.traits import Traits
from pmgt_mpi.config.read import check_config
from tests.launcher import ROOT, mpirun
from tests.support.methods import TRAITS

README = (ROOT / "README.md").read_text()


def block(mark: str) -> str:
    """Return the fenced block after a comment ``<!-- mark -->``."""
    pattern = rf"<!-- {re.escape(mark)} -->\s*```\w+\n(.*?)\n\s*```"
    found = re.search(pattern, README, re.DOTALL)
    assert found, f"README has no block marked '{mark}'"
    return found.group(1)


def test_the_config_is_valid_and_names_every_choice():
    text = block("config")
    config = check_config(tomllib.loads(text), "README", ".")
    assert [a.label for a in config.algorithm] == ["pmgt-katyushax", "NIDS, large step"]


@pytest.mark.parametrize("name", ["solve", "own problem"])
def test_the_programs_run(name, tmp_path):
    (tmp_path / "program.py").write_text(block(f"program: {name}"))
    result = mpirun(4, ["program.py"], cwd=tmp_path).expect(0)
    if name == "solve":
        assert result.stdout.startswith("converged ")


def test_the_code_of_nids_is_that_of_its_file():
    source = (ROOT / "pmgt_mpi/algorithms/nids.py").read_text()
    shown = textwrap.dedent(block("source: pmgt_mpi/algorithms/nids.py"))
    assert textwrap.indent(shown, "    ").strip() in source


def test_the_output_has_the_columns_of_the_table():
    shown = block("output: quickstart")
    for word in ("algorithm", "pmgt-katyushax", "nids", "run folder: runs/quickstart-"):
        assert word in shown


def test_the_readme_config_runs(tmp_path):
    (tmp_path / "config.toml").write_text(block("config"))
    arguments = ["-m", "pmgt_mpi.run", "--config", "config.toml", "--out", "out"]
    mpirun(4, [*arguments, "--set", "stop.steps=3"], cwd=tmp_path).expect(0)


CLASSES = {
    "components": "convex f_ij",
    "agents": "convex f_i",
    "mean": "nonconvex f_ij",
}


def row_of(name: str, traits: Traits) -> str:
    """The line of the README's table for one method."""
    cost = traits.cost
    setting = CLASSES[traits.convex] + (", one machine" if traits.alone else "")
    rounds = f"`{cost.rounds}`" + (" of 2 vectors" if cost.vectors == 2 else "")
    prox = "yes" if traits.proximal else ""
    cells = (f"`{name}`", setting, prox, f"`{cost.gradients}`", rounds, traits.source)
    return "| " + " | ".join(cells) + " |"


@pytest.mark.parametrize("name", ALGORITHMS)
def test_the_table_of_methods_says_what_they_say_of_themselves(name):
    assert row_of(name, TRAITS[name]) in README.splitlines()
