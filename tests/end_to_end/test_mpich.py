"""Another MPI, MPICH's wheel: the same counts and bits as on Open MPI."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.end_to_end.test_engines import needs_compiler
from tests.support import mpich
from tests.support.running import Left, run_config

COUNTS = ("name", "status", "step", "gradients", "rounds", "messages", "bytes")

pytestmark = pytest.mark.timeout(200)


@pytest.fixture(scope="module")
def environment(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Give the environment with MPICH; pytest's cache keeps it for the next time."""
    cache = getattr(request.config, "cache", None)
    folder = cache.mkdir("mpich") if cache else tmp_path_factory.mktemp("mpich")
    return mpich.make_environment(folder)


@pytest.mark.parametrize(
    ("engine", "exchange"),
    [
        ("python", "persistent"),
        pytest.param("compiled", "persistent", marks=needs_compiler),
        pytest.param("compiled", "isend", marks=needs_compiler),
    ],
)
def test_a_run_has_the_bits_of_open_mpi(environment, tmp_path, engine, exchange):
    """Engine by engine: the two differ in the last bits, on any MPI."""
    options = (f"run.engine={engine}", f"network.exchange={exchange}")
    run_config(tmp_path, ranks=2, set=options).expect(0)
    args = ["-m", "pmgt_mpi.run", "--config", "config.toml", "--out", "mpich"]
    args += [word for option in options for word in ("--set", option)]
    env = {"PMGT_CACHE": str(tmp_path / "cache")}
    mpich.mpirun(environment, 2, args, cwd=tmp_path, env=env).expect(0)
    theirs, ours = Left(tmp_path / "out"), Left(tmp_path / "mpich")
    assert ours.meta["mpi"].startswith("MPICH")
    assert not theirs.meta["mpi"].startswith("MPICH")
    assert ours.meta["engine"]["name"] == engine
    for one, other in zip(ours.summary, theirs.summary, strict=True):
        assert [one[key] for key in COUNTS] == [other[key] for key in COUNTS]
    expected = theirs.solution
    solution = ours.solution
    assert solution.keys() == expected.keys()
    for name, x in solution.items():
        assert x.tobytes() == expected[name].tobytes(), name


@needs_compiler
def test_gossip_inside_a_communicator(environment):
    args = ["-m", "pytest", "--with-mpi", "--timeout=60", "-p", "no:cacheprovider"]
    result = mpich.mpirun(
        environment, 2, [*args, "tests/mpi/test_gossip.py"], timeout=120
    )
    result.expect(0)
    assert "MPI vendor: MPICH" in result.stdout
