"""A run continued from a checkpoint ends with the bits of one that never stopped."""

from __future__ import annotations

import numpy as np
import pytest

from pmgt_mpi.algorithms import ALGORITHMS
from pmgt_mpi.checkpoints.identity import facts, machine
from pmgt_mpi.checkpoints.keeper import Keeper, Upkeep
from pmgt_mpi.checkpoints.keeping import Keeping
from pmgt_mpi.checkpoints.resume import newest
from pmgt_mpi.checkpoints.store import Checkpoints, complete, numbered
from pmgt_mpi.config.plan import AlgorithmPlan, CheckpointPlan, Part, Stop
from pmgt_mpi.data.shard import Shard
from pmgt_mpi.execution.algorithm import execute
from pmgt_mpi.execution.engine import PYTHON
from pmgt_mpi.execution.stage import make_stage, spread_network
from pmgt_mpi.gossip import EXCHANGES, MIXINGS
from pmgt_mpi.graphs.build import build_network
from pmgt_mpi.mpi.collective import AgreedError, Collective
from pmgt_mpi.output.folder import RunFolder
from pmgt_mpi.problems import PROBLEMS
from pmgt_mpi.regularizers.l1 import L1
from pmgt_mpi.watchdog.signals import Sentry
from tests.support.methods import METHODS

STEPS = 11
CLOCKS = {"seconds", "compute_seconds", "comm_seconds"}


@pytest.fixture
def stage(comm):
    rng = np.random.default_rng(comm.rank)
    n = 20 + 3 * comm.rank
    A = rng.normal(size=(n, 6))
    total = sum(comm.allgather(n))
    shard = Shard(A, A @ np.arange(6.0) + 1, total, comm.size)
    collective = Collective(comm.Dup())
    problem = PROBLEMS.load("ridge")(shard, collective, l2=0.1)
    network = spread_network(
        collective,
        lambda: build_network(comm.size, np.random.default_rng(0), topology="ring"),
    )
    yield make_stage(
        comm, collective, network, problem, L1(strength=0.01), np.zeros(6),
        lambda weight, constants: None,  # noqa: ARG005
    )  # fmt: skip
    collective.comm.Free()


@pytest.fixture
def folder(comm, mpi_tmp_path):
    path = mpi_tmp_path / "run"
    opened = RunFolder(path) if comm.rank == 0 else None
    comm.Barrier()
    yield path, opened
    comm.Barrier()
    if opened is not None:
        opened.close()


def run(stage, name, keeping, steps=STEPS):
    """Run a method; all that must not depend on an interruption."""
    plan = AlgorithmPlan(
        label=name,
        stream=name,
        method=Part(name, ALGORITHMS.address(name)),
        mixing=Part("chebyshev", MIXINGS.address("chebyshev")),
        mix_rounds=4,
        steps=steps,
        evaluate_every=2,
    )
    if keeping.parameters is None:
        keeping.parameters = vars(METHODS[name])
    return execute(
        stage,
        plan,
        seed=7,
        stop=Stop(),
        exchange=Part("persistent", EXCHANGES.address("persistent")),
        engine=PYTHON,
        watch=lambda step, record: None,  # noqa: ARG005
        tell=lambda note: None,  # noqa: ARG005
        keeping=keeping,
    )


def upkeep(stage, folder, every=0, done=()):
    checkpoints = Checkpoints(
        folder[0], folder[1], stage.collective,
        facts(stage.collective, stage.neighbourhood, "", stage.x0, "python"),
        stage.collective.gather(machine()), [],
    )  # fmt: skip
    sentry = Sentry(stage.collective.agent, has_launcher=False)
    return Upkeep(checkpoints, CheckpointPlan(every, 0.0), list(done), sentry)


def bills(finished):
    timed = {"compute_seconds", "comm_seconds", "evaluation_seconds"}
    timed.add("peak_memory_bytes")
    return [
        {key: value for key, value in row.items() if key not in timed}
        for row in [*finished.ranks, *finished.edges]
    ]


def told(record):
    return {key: value for key, value in record.items() if key not in CLOCKS}


@pytest.mark.parametrize("name", METHODS)
def test_every_method_goes_on_with_the_same_bits(stage, folder, together, name):
    whole = run(stage, name, Keeping())
    keeping = upkeep(stage, folder, every=4)
    first = run(stage, name, Keeper(keeping, 0, None))
    found = newest(folder[0], folder[1], stage.collective)
    second = run(stage, name, Keeper(upkeep(stage, folder), 0, found.saved))
    with together:
        assert found.manifest.step == 8
        assert len(list(complete(folder[0]))) == 2
        for other in (first, second):
            assert other.x_local.tobytes() == whole.x_local.tobytes()
            assert bills(other) == bills(whole)
            assert other.status == "budget"
            assert told(other.records[-1]) == told(whole.records[-1])
        # Records after the checkpoint are made again, that of its step is kept.
        assert [r["step"] for r in second.records] == [8, 10, 11]
        for record in second.records:
            index = [0, 2, 4, 6, 8, 10, 11].index(record["step"])
            assert told(record) == told(whole.records[index])


def test_seconds_go_on_and_are_not_counted_twice(stage, folder, together):
    run(stage, "nids", Keeper(upkeep(stage, folder, every=4), 0, None))
    found = newest(folder[0], folder[1], stage.collective)
    before, _, wall = found.saved.numbers["clocks"]
    longer = run(
        stage, "nids", Keeper(upkeep(stage, folder), 0, found.saved), steps=2 * STEPS
    )
    whole = run(stage, "nids", Keeper(upkeep(stage, folder), 0, None), steps=2 * STEPS)
    with together:
        assert longer.records[0]["seconds"] >= before
        assert wall > before > 0, "that of all the time runs when it is saved"
        assert longer.records[-1]["seconds"] > longer.records[0]["seconds"]
        assert longer.x.tobytes() == whole.x.tobytes(), "a longer budget"


def test_the_last_two_are_kept_and_a_damaged_one_is_passed_over(
    comm, stage, folder, together
):
    run(stage, "nids", Keeper(upkeep(stage, folder, every=2), 0, None))
    numbers = [number for number, _ in numbered(folder[0])]
    comm.Barrier()
    last = comm.size - 1
    if comm.rank == last:
        path = folder[0] / "checkpoint" / "000005" / f"agent-{last}.state"
        content = bytearray(path.read_bytes())
        content[-5] ^= 16
        path.write_bytes(content)
    comm.Barrier()
    found = newest(folder[0], folder[1], stage.collective)
    again = newest(folder[0], folder[1], stage.collective)
    with together:
        assert numbers == [5, 4]
        assert found.manifest.number == again.manifest.number == 4
        assert found.manifest.step == 8
        ((path, why),) = found.damaged.items()
        assert path.name == "000005"
        assert "another checksum" in why
        assert again.damaged == found.damaged, "nothing is changed by looking"


def test_if_one_agent_cannot_write_all_end_and_the_last_one_stays(
    comm, stage, folder, together
):
    keeping = upkeep(stage, folder, every=4)
    run(stage, "nids", Keeper(keeping, 0, None), steps=5)
    comm.Barrier()
    if comm.rank == comm.size - 1:
        # Where this agent's file of the next checkpoint would be there is a folder.
        name = f"agent-{comm.rank}.state"
        blocked = folder[0] / "checkpoint" / "000002" / name
        blocked.mkdir(parents=True)
        (blocked / "x").touch()
    comm.Barrier()
    if comm.rank == 0:
        keeping.checkpoints._begin = lambda: 2
    message = ""
    try:
        run(stage, "nids", Keeper(keeping, 0, None), steps=5)
    except Exception as error:
        message = f"{type(error).__name__}: {error}"
    found = newest(folder[0], folder[1], stage.collective)
    with together:
        assert message.startswith("AgreedError: cannot write ")
        assert "continue with --resume" in message
        assert found.manifest.number == 1


def test_a_state_that_no_checkpoint_can_hold_is_refused_at_once(
    stage, folder, together
):
    keeper = Keeper(upkeep(stage, folder, every=4), 0, None)
    with together, pytest.raises(AgreedError, match="is a dataclass of arrays"):
        keeper.restore((np.zeros(3),))
    Keeper(upkeep(stage, folder), 0, None).restore((np.zeros(3),))  # none is wanted
