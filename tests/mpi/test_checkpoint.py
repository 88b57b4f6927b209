"""A run continued from a checkpoint ends with the bits of one that never stopped."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pmgt_mpi.checkpoints.identity import facts, machine
from pmgt_mpi.checkpoints.policy import Checkpointer, Policy, Unsaved
from pmgt_mpi.checkpoints.resume import newest
from pmgt_mpi.checkpoints.store import Checkpoints, complete, numbered
from pmgt_mpi.config.schema import Config
from pmgt_mpi.config.sections import (
    AlgorithmSection,
    CheckpointSection,
    EvaluateSection,
    MixingSection,
    ProblemSection,
    StopSection,
)
from pmgt_mpi.data.shard import Shard
from pmgt_mpi.execution.algorithm import run_algorithm
from pmgt_mpi.execution.engine import PYTHON
from pmgt_mpi.execution.network import Place
from pmgt_mpi.execution.setup import Loaded, measure
from pmgt_mpi.graphs.build import build_network
from pmgt_mpi.graphs.neighbourhood import spread_network
from pmgt_mpi.mpi.collective import AgreedError, Collective
from pmgt_mpi.output.folder import RunFolder
from pmgt_mpi.problems import PROBLEMS
from pmgt_mpi.regularizers.shrinkage import L1
from pmgt_mpi.watchdog.signals import Monitor
from tests.support.methods import METHODS, TRAITS

STEPS = 11
CLOCKS = {"seconds", "compute_seconds", "comm_seconds"}


CONFIG = Config(
    problem=ProblemSection(kind="ridge"),
    mixing=MixingSection(rounds=4),
    evaluate=EvaluateSection(every=2, reference=False),
    algorithm=(),
)


@pytest.fixture
def setup(comm):
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
    place = Place(comm, collective, *network)
    yield measure(CONFIG, place, Loaded(None), problem, L1(strength=0.01), np.zeros(6))
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


def run(setup, name, hooks, steps=STEPS):
    """Run a method; all that must not depend on an interruption."""
    config = replace(
        CONFIG,
        run=replace(CONFIG.run, seed=7),
        stop=StopSection(steps=steps),
        algorithm=(
            AlgorithmSection(
                name=name, method=METHODS[name], guard=list(TRAITS[name].guarded)
            ),
        ),
    )
    return run_algorithm(setup, config, config.algorithm[0], PYTHON, hooks=hooks)


def policy(setup, folder, every=0, done=()):
    checkpoints = Checkpoints(
        folder[0], folder[1], setup.collective,
        facts(setup.collective, setup.neighbourhood, "", setup.x0, "python"),
        setup.collective.gather(machine()),
    )  # fmt: skip
    monitor = Monitor(setup.collective.agent, has_launcher=False)
    cadence = CheckpointSection(steps=every, minutes=0.0)
    return Policy(checkpoints, cadence, list(done), monitor)


def costs(finished):
    timed = {"compute_seconds", "comm_seconds", "evaluation_seconds"}
    timed.add("peak_memory_bytes")
    return [
        {key: value for key, value in row.items() if key not in timed}
        for row in [*finished.ranks, *finished.edges]
    ]


def told(record):
    return {key: value for key, value in record.items() if key not in CLOCKS}


@pytest.mark.parametrize("name", METHODS)
def test_every_method_continues_with_the_same_bits(setup, folder, together, name):
    whole = run(setup, name, Unsaved())
    own = policy(setup, folder, every=4)
    first = run(setup, name, Checkpointer(own, 0, None))
    found = newest(folder[0], folder[1], setup.collective)
    second = run(setup, name, Checkpointer(policy(setup, folder), 0, found.saved))
    with together:
        assert found.manifest.step == 8
        assert len(list(complete(folder[0]))) == 2
        for other in (first, second):
            assert other.x_local.tobytes() == whole.x_local.tobytes()
            assert costs(other) == costs(whole)
            assert other.status == "budget"
            assert told(other.records[-1]) == told(whole.records[-1])
        # Records after the checkpoint are made again, that of its step is kept.
        assert [r["step"] for r in second.records] == [8, 10, 11]
        for record in second.records:
            index = [0, 2, 4, 6, 8, 10, 11].index(record["step"])
            assert told(record) == told(whole.records[index])


def test_seconds_continue_and_are_not_counted_twice(setup, folder, together):
    run(setup, "nids", Checkpointer(policy(setup, folder, every=4), 0, None))
    found = newest(folder[0], folder[1], setup.collective)
    before, _, wall = found.saved.numbers["clocks"]
    longer, whole = (
        run(setup, "nids", Checkpointer(policy(setup, folder), 0, saved), 2 * STEPS)
        for saved in (found.saved, None)
    )
    with together:
        assert longer.records[0]["seconds"] >= before
        assert wall > before > 0, "that of all the time runs when it is saved"
        assert longer.records[-1]["seconds"] > longer.records[0]["seconds"]
        assert longer.x.tobytes() == whole.x.tobytes(), "a longer budget"


def test_the_last_two_are_kept_and_a_damaged_one_is_passed_over(
    comm, setup, folder, together
):
    run(setup, "nids", Checkpointer(policy(setup, folder, every=2), 0, None))
    numbers = [number for number, _ in numbered(folder[0])]
    comm.Barrier()
    last = comm.size - 1
    if comm.rank == last:
        path = folder[0] / "checkpoint" / "000005" / f"agent-{last}.state"
        content = bytearray(path.read_bytes())
        content[-5] ^= 16
        path.write_bytes(content)
    comm.Barrier()
    found = newest(folder[0], folder[1], setup.collective)
    again = newest(folder[0], folder[1], setup.collective)
    with together:
        assert numbers == [5, 4]
        assert found.manifest.number == again.manifest.number == 4
        assert found.manifest.step == 8
        ((path, why),) = found.damaged.items()
        assert path.name == "000005"
        assert "another checksum" in why
        assert again.damaged == found.damaged, "nothing is changed by looking"


def test_if_one_agent_cannot_write_all_end_and_the_last_one_stays(
    comm, setup, folder, together
):
    own = policy(setup, folder, every=4)
    run(setup, "nids", Checkpointer(own, 0, None), steps=5)
    comm.Barrier()
    if comm.rank == comm.size - 1:
        # Where this agent's file of the next checkpoint would be there is a folder.
        name = f"agent-{comm.rank}.state"
        blocked = folder[0] / "checkpoint" / "000002" / name
        blocked.mkdir(parents=True)
        (blocked / "x").touch()
    comm.Barrier()
    if comm.rank == 0:
        own.checkpoints._begin = lambda: 2
    message = ""
    try:
        run(setup, "nids", Checkpointer(own, 0, None), steps=5)
    except Exception as error:
        message = f"{type(error).__name__}: {error}"
    found = newest(folder[0], folder[1], setup.collective)
    with together:
        assert message.startswith("AgreedError: cannot write ")
        assert "continue with --resume" in message
        assert found.manifest.number == 1


def test_a_state_that_no_checkpoint_can_hold_is_refused_at_once(
    setup, folder, together
):
    checkpointer = Checkpointer(policy(setup, folder, every=4), 0, None)
    with together, pytest.raises(AgreedError, match="is a dataclass of arrays"):
        checkpointer.restore((np.zeros(3),))
    none_wanted = Checkpointer(policy(setup, folder), 0, None)
    none_wanted.restore((np.zeros(3),))
