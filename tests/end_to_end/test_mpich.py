"""Another MPI, MPICH's wheel: the same counts and bits as on Open MPI."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.end_to_end.test_engines import needs_engine
from tests.support.mpis import InstallError, make_environment, mpirun
from tests.support.running import SMALL, Left, run_config

COUNTS = ("name", "status", "step", "gradients", "rounds", "messages", "bytes")

pytestmark = pytest.mark.timeout(200)


@pytest.fixture(scope="module")
def make(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Path]:
    """Return what makes environments; pytest's cache keeps them for the next time."""
    cache = getattr(request.config, "cache", None)

    def make(mpich: str) -> Path:
        name = f"mpich-{mpich}"
        folder = cache.mkdir(name) if cache else tmp_path_factory.mktemp(name)
        try:
            return make_environment(folder, f"mpich=={mpich}.*")
        except InstallError as error:
            pytest.skip(f"MPICH's wheel cannot be installed: {error}")

    return make


@pytest.fixture(scope="module")
def environment(make: Callable[[str], Path]) -> Path:
    return make("5.0")


@pytest.mark.parametrize(
    ("engine", "exchange"),
    [
        ("python", "persistent"),
        pytest.param("compiled", "persistent", marks=needs_engine),
        pytest.param("compiled", "isend", marks=needs_engine),
    ],
)
def test_a_run_has_the_bits_of_open_mpi(environment, tmp_path, engine, exchange):
    """Engine by engine: the two differ in the last bits, on any MPI."""
    options = (f"run.engine={engine}", f"network.exchange={exchange}")
    run_config(tmp_path, ranks=2, set=options).expect(0)
    args = ["-m", "pmgt_mpi.run", "--config", "config.toml", "--out", "mpich"]
    args += [word for option in options for word in ("--set", option)]
    env = {"PMGT_CACHE": str(tmp_path / "cache")}
    mpirun(environment, 2, args, cwd=tmp_path, env=env).expect(0)
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


@needs_engine
def test_gossip_inside_a_communicator(environment):
    args = ["-m", "pytest", "--with-mpi", "--timeout=60", "-p", "no:cacheprovider"]
    result = mpirun(environment, 2, [*args, "tests/mpi/test_gossip.py"], timeout=120)
    result.expect(0)
    assert "MPI vendor: MPICH" in result.stdout


def test_a_wrong_key_is_told_and_the_launcher_adds_nothing(environment, tmp_path):
    (tmp_path / "config.toml").write_text(SMALL)
    args = ["-m", "pmgt_mpi.run", "--config", "config.toml", "--set", "stop.step=3"]
    result = mpirun(environment, 2, args, cwd=tmp_path).expect(2)
    (line,) = (result.stdout + result.stderr).splitlines()
    assert line.startswith("pmgt_mpi: error: config.toml: [stop] has no key 'step';")


FASTEST_ROUNDS = """
import json, os
os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
from time import perf_counter
import numpy as np
from mpi4py import MPI
from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.execution.engine import choose_engine
from pmgt_mpi.gossip.gossip import Gossip
from pmgt_mpi.gossip.polynomials import chebyshev
from pmgt_mpi.graphs.build import build_network

comm = MPI.COMM_WORLD
network = build_network(comm.size, np.random.default_rng(1), topology="ring")
fastest = {}
for name in ("python", "compiled"):
    engine = choose_engine(Collective(comm), name)
    exchange = engine.exchange("persistent")
    gossip = Gossip(comm, network.neighbourhood(comm.rank), chebyshev, exchange)
    seconds = []
    for _ in range(12):
        start = perf_counter()
        gossip.mix(np.zeros(50), 20)
        seconds.append((perf_counter() - start) / 20)
    fastest[name] = min(seconds)
    gossip.close()
if comm.rank == 0:
    print(json.dumps(fastest))
"""


@needs_engine
def test_ranks_that_share_a_core_let_each_other_run(make):
    """MPICH 4 keeps the core while it waits, as the rounds in Python show."""
    args = ["-c", FASTEST_ROUNDS]
    result = mpirun(make("4.3"), 4, args, timeout=100).expect(0)
    seconds = json.loads(result.stdout)
    assert seconds["compiled"] < seconds["python"] / 5, seconds


ON_ONE_CORE = """
import os, sys
os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
from pmgt_mpi.run import main
sys.exit(main())
"""


def test_an_mpi_that_keeps_the_core_is_told(make, tmp_path):
    (tmp_path / "config.toml").write_text(SMALL)
    options = ["--config", "config.toml", "--set", "stop.steps=1"]
    options += ["--set", "run.engine=python"]
    env = {"PMGT_CACHE": str(tmp_path / "cache")}
    args = ["-c", ON_ONE_CORE, *options]
    result = mpirun(make("4.3"), 2, args, cwd=tmp_path, env=env).expect(0)
    assert "note: 2 ranks share 1 core on " in result.stdout
    assert "and MPICH 4.3 keeps a core while it waits" in result.stdout
