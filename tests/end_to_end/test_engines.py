"""Whole runs on both engines: the same numbers, and what is told of the engine."""

from __future__ import annotations

import shutil
import sys
import tomllib

import numpy as np
import pytest

from pmgt_mpi.checkpoints.identity import machine
from pmgt_mpi.engine.library import Library
from pmgt_mpi.engine.variants import HERE, BuildError
from tests.launcher import run
from tests.support.running import Left, run_config


def why_not_compiled() -> str:
    """What the compiled engine lacks here; nothing if it runs."""
    try:
        Library()
    except BuildError as error:
        return str(error)
    return ""


WHY = why_not_compiled()

needs_engine = pytest.mark.skipif(bool(WHY), reason=f"no compiled engine: {WHY}")


@needs_engine
@pytest.mark.parametrize("problem", ["shift-invert-pca", "logistic, sparse"])
def test_both_engines_agree_to_1e_11_over_a_run(tmp_path, problem):
    changes: tuple[str, ...] = ()
    if problem != "shift-invert-pca":
        changes = (
            "problem={kind = 'logistic', l2 = 0.01, positive = 1.0}",
            "data={source = 'gaussian', rows = 600, columns = 8, labels = 'sign',"
            " layout = 'sparse'}",
        )
    lefts = []
    for engine in ("python", "compiled", "compiled"):
        folder = tmp_path / f"run-{len(lefts)}"
        folder.mkdir()
        run_config(folder, sections(changes), set=(f"run.engine={engine}",)).expect(0)
        lefts.append(Left(folder / "out"))
    python, compiled, again = lefts
    assert python.summary[0]["engine"] == "python"
    assert compiled.summary[0]["engine"] == "compiled"
    for name in ("pmgt-katyushax", "pmgt-svrg", "pg-extra", "nids"):
        ours, theirs = (left.solution[f"{name}/agents"] for left in lefts[:2])
        scale = np.abs(ours).max()
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-11 * scale)
        assert theirs.tobytes() == again.solution[f"{name}/agents"].tobytes()
    for one, other in zip(python.summary, compiled.summary, strict=True):
        for count in ("gradients", "rounds", "messages", "bytes"):
            assert one[count] == other[count]


def sections(changes: tuple[str, ...]) -> str:
    """The small config with sections put in place of others."""
    import tomli_w

    from tests.support.running import SMALL

    values = tomllib.loads(SMALL)
    for change in changes:
        values |= tomllib.loads(change)
    return tomli_w.dumps(values)


@needs_engine
def test_what_is_told_of_the_compiled_engine(tmp_path):
    result = run_config(tmp_path, set=("stop.steps=1",)).expect(0)
    assert "engine: compiled\n" in result.stdout
    left = Left(tmp_path / "out")
    assert left.meta["engine"] == {
        "name": "compiled",
        "build": Library().variant,
        "gradients": "compiled",
        "why": "",
    }
    assert left.meta["machines"] == [machine()]
    config = tomllib.loads((left.path / "config.toml").read_text())
    assert config["run"]["engine"] == "compiled"


@pytest.fixture
def without_engine(tmp_path) -> dict[str, str]:
    """The environment of a package that was installed where there was no compiler."""
    package = HERE.parent
    ignored = shutil.ignore_patterns("*.abi3.so", "__pycache__")
    shutil.copytree(package, tmp_path / "installed" / package.name, ignore=ignored)
    return {"PYTHONPATH": str(tmp_path / "installed")}


HOW = (
    "it was not built with the package; install a C compiler, or pip install ziglang, "
    "then python -m pmgt_mpi.engine --build"
)


def test_without_it_auto_is_python_and_says_why(tmp_path, without_engine):
    result = run_config(tmp_path, env=without_engine, set=("stop.steps=1",)).expect(0)
    assert f"engine: python, as {HOW}" in result.stdout
    left = Left(tmp_path / "out")
    assert left.meta["engine"]["name"] == "python"
    assert "(agent 0 on " in left.meta["engine"]["why"]
    assert left.summary[0]["engine"] == "python"
    config = tomllib.loads((left.path / "config.toml").read_text())
    assert config["run"]["engine"] == "python"


def test_without_it_compiled_is_refused(tmp_path, without_engine):
    options = ("run.engine=compiled",)
    result = run_config(tmp_path, env=without_engine, set=options).expect(2)
    assert result.stderr.count("error:") == 1
    assert f"engine 'compiled' cannot be used: {HOW}" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_a_compiler_that_came_later_builds_it(tmp_path, without_engine):
    """By the command that the message names."""
    command = [sys.executable, "-m", "pmgt_mpi.engine"]
    options = {"env": without_engine, "cwd": tmp_path}
    result = run(command, **options).expect(2)
    assert f"error: {HOW}" in result.stderr
    result = run([*command, "--build"], **options).expect(0)
    assert "engine: compiled (" in result.stdout
    assert result.stdout == run(command, **options).expect(0).stdout
