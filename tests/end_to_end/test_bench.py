"""The short form of scripts/bench: its C programs compute what the package does."""

from __future__ import annotations

import json
import sys

import pytest

from tests.launcher import ROOT, mpirun

BENCH = ROOT / "scripts" / "bench"


@pytest.fixture(scope="module")
def bench():
    """The modules of scripts/bench, as they import each other."""
    names = ("contenders", "ratios", "whole_runs")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCH))
        yield {name: __import__(name) for name in names}
    for name in names:
        sys.modules.pop(name)


@pytest.fixture(scope="module")
def compiled(bench, tmp_path_factory):
    """Return the folder with the C programs."""
    contenders = bench["contenders"]
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
    results = json.loads(done.stdout.splitlines()[-1])
    for result in results:
        assert {"python", "compiled", form} <= result["microseconds"].keys()
    if name == "epochs.py":
        sizes = [(r["b"], r["M"]) for r in results]
        assert sizes == [(173, 4), (173, 0), (500, 4), (500, 0)]
        assert all(r["switches"].keys() == r["microseconds"].keys() for r in results)


def test_the_bare_program_imports_what_a_run_does(bench, tmp_path):
    runs = bench["whole_runs"].Runs(tmp_path)
    files = bench["whole_runs"].imports(runs)
    of_all, others = json.loads(files["imports"].read_text())
    of_agent_0, _ = json.loads(files["imports of agent 0"].read_text())
    assert of_all == others
    assert {"pmgt_mpi.execution.loop", "numpy.random"} <= {*others}
    assert {"pydantic", "networkx"} & {*others} == set()
    assert "pydantic" in of_agent_0
    assert "matplotlib" not in of_agent_0
    assert bench["whole_runs"].bare(runs, 2, files["imports of agent 0"]) > 0
