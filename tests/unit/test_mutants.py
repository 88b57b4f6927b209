"""The planted faults still fit the code that they are planted in."""

from __future__ import annotations

import runpy

import pytest

from tests.launcher import ROOT

FAULTS = runpy.run_path(str(ROOT / "scripts" / "mutants.py"), run_name="mutants")[
    "FAULTS"
]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_changes_one_place_and_names_its_tests(fault):
    assert (ROOT / fault.file).read_text().count(fault.old) == 1
    assert fault.new != fault.old
    assert (ROOT / fault.tests).is_file()


def test_names_differ():
    assert len({fault.name for fault in FAULTS}) == len(FAULTS) >= 12
