"""scripts/README.md: a line for every script."""

from __future__ import annotations

import re

from tests.launcher import ROOT


def test_every_script_has_its_line():
    folder = ROOT / "scripts"
    lines = (folder / "README.md").read_text().splitlines()
    cells = " ".join(line.split("|")[1] for line in lines if line.startswith("| `"))
    told = {name.removesuffix("/") for name in re.findall(r"`(.+?)`", cells)}
    ignored = {"README.md", "__pycache__"}
    assert told == {path.name for path in folder.iterdir()} - ignored
