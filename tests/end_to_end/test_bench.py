"""The short form of scripts/bench: its C programs compute what the package does."""

from __future__ import annotations

import json
import sys

import pytest

from tests.launcher import ROOT, mpirun

BENCH = ROOT / "scripts" / "bench"


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """Return the folder with the C programs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCH))
        import contenders

        sys.modules.pop("contenders")
    folder = tmp_path_factory.mktemp("bench")
    try:
        contenders.compile_all(folder)
    except contenders.NoCompilerError as error:
        pytest.skip(str(error))
    return folder


@pytest.mark.parametrize(
    ("program", "form"),
    [(["rounds.py", "1", "50"], "C persistent"), (["epochs.py", "1"], "C gemv, isend")],
)
def test_c_and_both_engines_compute_the_same(compiled, program, form):
    """The programs themselves hold all results against each other, to 1e-12."""
    name, *arguments = program
    done = mpirun(2, [BENCH / name, compiled, *arguments], timeout=120).expect(0)
    for result in json.loads(done.stdout.splitlines()[-1]):
        assert {"python", "compiled", form} <= result["microseconds"].keys()
