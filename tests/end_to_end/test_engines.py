"""Whole runs on both engines: the same numbers, one compiler, and what is told."""

from __future__ import annotations

import shutil
import tomllib

import numpy as np
import pytest

from pmgt_mpi.engine.compiler import COMPILERS
from tests.support.running import Left, run_config

SYSTEM = next(filter(None, map(shutil.which, COMPILERS)), None)

needs_compiler = pytest.mark.skipif(
    SYSTEM is None, reason=f"no C compiler ({', '.join(COMPILERS)})"
)


@needs_compiler
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


@needs_compiler
def test_one_rank_compiles_and_the_next_job_does_not(tmp_path):
    log = tmp_path / "compilations"
    cc = tmp_path / "cc"
    cc.write_text(f'#!/bin/sh\necho run >> {log}\nexec {SYSTEM} "$@"\n')
    cc.chmod(0o755)
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "engine").symlink_to(tmp_path / "fresh")
    (tmp_path / "fresh").mkdir()
    env = {"CC": str(cc)}
    for out in ("first", "second"):
        result = run_config(tmp_path, out=out, env=env, set=("stop.steps=1",)).expect(0)
        assert "engine: compiled\n" in result.stdout
        left = Left(tmp_path / out)
        assert left.meta["engine"] == {
            "name": "compiled",
            "gradients": "compiled",
            "why": "",
        }
        config = tomllib.loads((left.path / "config.toml").read_text())
        assert config["run"]["engine"] == "compiled"
    assert log.read_text().splitlines() == ["run"]


def test_without_a_compiler_auto_is_python_and_says_why(tmp_path):
    env = {"CC": "/nowhere/cc"}
    result = run_config(tmp_path, env=env, set=("stop.steps=1",)).expect(0)
    assert "engine: python, as the C compiler /nowhere/cc fails: " in result.stdout
    left = Left(tmp_path / "out")
    assert left.meta["engine"]["name"] == "python"
    assert "(agent 0 on " in left.meta["engine"]["why"]
    assert left.summary[0]["engine"] == "python"
    config = tomllib.loads((left.path / "config.toml").read_text())
    assert config["run"]["engine"] == "python"


def test_without_a_compiler_compiled_is_refused(tmp_path):
    env = {"CC": "/nowhere/cc"}
    result = run_config(tmp_path, env=env, set=("run.engine=compiled",)).expect(2)
    assert result.stderr.count("error:") == 1
    assert (
        "engine 'compiled' cannot be used: the C compiler /nowhere/cc" in result.stderr
    )
    assert "Traceback" not in result.stderr
