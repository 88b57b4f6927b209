"""One agent's rows on this machine, and what all agents' rows say of the problem."""

from __future__ import annotations

import resource
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np

from pmgt_mpi.config.plan import Part, Plan
from pmgt_mpi.data.archive import is_packed
from pmgt_mpi.data.files import find_file, is_private, own_path
from pmgt_mpi.data.source import Source, Table
from pmgt_mpi.errors import UserError
from pmgt_mpi.execution.engine import Engine
from pmgt_mpi.execution.setup import build_stage
from pmgt_mpi.execution.stage import Stage
from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.mpi.together import MOST_BYTES, TooMuchError, together
from pmgt_mpi.mpi.world import alone

MOST_AGENTS = 1000
"""That are set up here together."""

UNPACKED = 10
"""Times that a packed file may grow."""


@dataclass(frozen=True)
class Sample:
    """One agent's rows, and the constants of all.

    Attributes
    ----------
    stage
        Of that agent in the run; its network, and for estimates the rows and constants
        of the others, are not those of the run.
    nbytes
        Of the rows and labels.
    base_bytes
        Memory of the process with all libraries, before the rows.
    engine
        What runs rounds and minibatches, as in a run.
    why
        Why rows and constants of the others are estimates; None where they are exact.
    """

    stage: Stage
    nbytes: int
    base_bytes: int
    engine: Engine
    why: str | None

    @property
    def n(self) -> int:
        """Rows of an agent, ⌈N / m⌉."""
        return self.stage.n


def take_sample(
    plan: Plan, ranks: int, engine: Engine, comm: Any, *, seconds: float
) -> Sample:
    """Set up what `ranks` agents would have, all of them if that is not too much.

    Parameters
    ----------
    comm
        Holds this rank alone, or both ranks that rehearse together.
    seconds
        That the set-up of all agents may take.
    """
    base_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    rows = plan.data.source.options.get("rows")
    if rows is not None and rows < ranks:
        raise UserError(
            f"--ranks {ranks}: [data] has {rows} rows, fewer than one an agent"
        )
    # The minimiser takes long, and is needed only where ε_f depends on it.
    wanted = plan.accuracy is not None and plan.accuracy.radius is None
    plan = _ring(plan)._replace(reference=plan.reference and wanted)
    why = _too_much(plan, ranks, seconds)
    stage = None
    if why is None:
        try:
            stage, nbytes = _all_agents(plan, ranks, min(comm.rank, ranks - 1), seconds)
        except TooMuchError as error:
            why = str(error)
    # Two that rehearse together must take the same parameters.
    why = next((one for one in comm.allgather(why) if one is not None), None)
    if stage is None or why is not None:
        stage, nbytes = _one_agent(plan, ranks, f"{why}")
    return Sample(stage._replace(comm=comm), nbytes, base_bytes, engine, why)


def _too_much(plan: Plan, ranks: int, seconds: float) -> str | None:
    """Say why not all agents can be set up here, as far as it is seen beforehand."""
    if seconds == 0:
        return "no seconds are given to the others"
    if ranks > MOST_AGENTS:
        return f"no more than {MOST_AGENTS:,} agents are set up here"
    options, base = plan.data.source.options, Path(plan.folder)
    if plan.data.source.name == "libsvm" and plan.data.layout == "dense":
        return "nobody knows beforehand how much sparse rows take when they are dense"
    if "path" not in options:
        nbytes = options.get("rows", 0) * options.get("columns", 0) * 8
    else:
        path = options["path"]
        files = [find_file(own_path(path, 0), base)]
        try:
            for agent in range(1, ranks if is_private(path) else 1):
                files.append(find_file(own_path(path, agent), base))
        except UserError as error:
            return f"the rows of other agents are elsewhere ({error})"
        nbytes = sum(file.stat().st_size for file in files)
        nbytes *= UNPACKED if is_packed(path) else 1
    return "the data are more than 1 GB" if nbytes > MOST_BYTES else None


def _all_agents(plan: Plan, ranks: int, kept: int, seconds: float) -> tuple[Stage, int]:
    """Set up all agents; return the stage of one, and the bytes of its rows."""
    plan, sizes = _measured(plan)

    def set_up(comm: Any) -> Stage | None:
        stage = build_stage(plan, comm)
        return stage if comm.rank == kept else None

    stage = together(ranks, set_up, seconds)[kept]
    assert stage is not None
    return stage, sizes[kept]


def _one_agent(plan: Plan, ranks: int, why: str) -> tuple[Stage, int]:
    """Set up one agent with its part of the rows, as if all others had the same."""

    class First(Part):
        def make(self, *arguments: Any) -> Any:
            return FirstPart(super().make(*arguments), ranks)

    data = plan.data._replace(source=First(*plan.data.source), shares=None)
    plan, sizes = _measured(plan._replace(data=data))
    try:
        stage = build_stage(plan, alone())
    except UserError as error:
        raise UserError(f"{error} (in the rows of one agent alone, as {why})") from None
    return stage._replace(rows=stage.rows * ranks), sizes[0]


class FirstPart:
    """The first of equal parts of a source, as if there were no other."""

    def __init__(self, source: Source, parts: int) -> None:
        self._source = source
        self._parts = parts

    def open(
        self, collective: Collective, *, base: Path | None, seed: np.random.SeedSequence
    ) -> Table:
        """Open the source, and cut what lies behind the first part."""
        table = self._source.open(collective, base=base, seed=seed)
        if table.length < self._parts:
            raise UserError(f"{table.name} has fewer rows than --ranks {self._parts}")
        if not table.private:
            table.length = ceil(table.length / self._parts)
        return table


def _measured(plan: Plan) -> tuple[Plan, dict[int, int]]:
    """Let the size of each agent's rows be told when its problem is made."""
    sizes: dict[int, int] = {}

    class Measured(Part):
        def make(self, *arguments: Any) -> Any:
            shard, collective = arguments
            sizes[collective.agent] = shard.nbytes
            return super().make(*arguments)

    return plan._replace(problem=Measured(*plan.problem)), sizes


def _ring(plan: Plan) -> Plan:
    """The plan on a ring, which any number of agents can have."""
    network = plan.network._replace(
        topology=Part("ring", "pmgt_mpi.graphs.fixed:ring"),
        file=None,
        weights=Part("laplacian", "pmgt_mpi.graphs.weights:laplacian"),
        weights_file=None,
        placement="none",
    )
    return plan._replace(network=network)
