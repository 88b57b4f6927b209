"""The planted faults still fit the code that they are planted in."""

from __future__ import annotations

import pytest

from pmgt_mpi.algorithms import ALGORITHMS
from scripts.faults import FAULTS
from tests.launcher import ROOT


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_changes_one_place_and_names_its_tests(fault):
    assert (ROOT / fault.file).read_text().count(fault.old) == 1
    assert fault.new != fault.old
    assert (ROOT / fault.tests).is_file()


def test_names_differ():
    assert len({fault.name for fault in FAULTS}) == len(FAULTS) >= 12


@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_method_has_two_faults_at_least(name):
    module = ALGORITHMS[name].partition(":")[0]
    file = module.replace(".", "/") + ".py"
    assert sum(fault.file == file for fault in FAULTS) >= 2
