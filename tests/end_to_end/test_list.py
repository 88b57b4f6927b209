"""``--list``: with mpirun and without, no config, one voice."""

from __future__ import annotations

import sys

from pmgt_mpi.config.listing import listing
from tests.launcher import mpirun, run

ARGUMENTS = ["-m", "pmgt_mpi.run", "--list"]


def test_without_mpirun(tmp_path):
    result = run([sys.executable, *ARGUMENTS], cwd=tmp_path).expect(0)
    assert result.stdout == listing()
    assert list(tmp_path.iterdir()) == []


def test_under_mpirun_it_is_printed_once(tmp_path):
    assert mpirun(4, ARGUMENTS, cwd=tmp_path).expect(0).stdout == listing()
