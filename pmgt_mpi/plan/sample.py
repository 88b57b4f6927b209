"""One agent's rows on this machine, and what all agents' rows say of the problem."""

from __future__ import annotations

import resource
from contextlib import ExitStack
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np

from pmgt_mpi.config.schema import Config
from pmgt_mpi.config.sections import NetworkSection
from pmgt_mpi.data.archive import is_packed
from pmgt_mpi.data.files import find_file, is_private, own_path
from pmgt_mpi.data.source import Source, Table
from pmgt_mpi.errors import UserError
from pmgt_mpi.execution.engine import Engine
from pmgt_mpi.execution.given import NOTHING_GIVEN, Given
from pmgt_mpi.execution.run import set_up
from pmgt_mpi.execution.setup import Setup
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
    setup
        Of that agent in the run; its network, and for estimates the rows and constants
        of the others, are not those of the run.
    base_bytes
        Memory of the process with all libraries, before the rows.
    engine
        What runs rounds and minibatches, as in a run.
    why
        Why rows and constants of the others are estimates; None where they are exact.
    measured_cost
        Whether what a round costs was measured here, as a run does for itself.
    """

    setup: Setup
    base_bytes: int
    engine: Engine
    why: str | None
    measured_cost: bool = False

    @property
    def nbytes(self) -> int:
        """Of the rows and labels."""
        return self.setup.nbytes

    @property
    def n(self) -> int:
        """Rows of an agent, ⌈N / m⌉."""
        return self.setup.n


def take_sample(
    config: Config, ranks: int, engine: Engine, comm: Any, *, seconds: float
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
    assert config.data is not None
    rows = config.data.options.get("rows")
    if rows is not None and rows < ranks:
        raise UserError(
            f"--ranks {ranks}: [data] has {rows} rows, fewer than one an agent"
        )
    config = _on_a_ring(config)
    why = _too_much(config, ranks, seconds)
    setup = None
    if why is None:
        try:
            setup = _all_agents(config, ranks, min(comm.rank, ranks - 1), seconds)
        except TooMuchError as error:
            why = str(error)
    # Two that rehearse together must take the same parameters.
    why = next((one for one in comm.allgather(why) if one is not None), None)
    if setup is None or why is not None:
        setup = _one_agent(config, ranks, f"{why}")
    return Sample(setup._replace(comm=comm), base_bytes, engine, why)


def _too_much(config: Config, ranks: int, seconds: float) -> str | None:
    """Say why not all agents can be set up here, as far as it is seen beforehand."""
    if seconds == 0:
        return "no seconds are given to the others"
    if ranks > MOST_AGENTS:
        return f"no more than {MOST_AGENTS:,} agents are set up here"
    data, base = config.data, Path(config.folder)
    assert data is not None
    options = data.options
    if data.source == "libsvm" and data.layout == "dense":
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


def _all_agents(config: Config, ranks: int, kept: int, seconds: float) -> Setup:
    """Set up all agents; return what one has."""

    def work(comm: Any) -> Setup | None:
        setup = _set_up(config, comm)
        return setup if comm.rank == kept else None

    setup = together(ranks, work, seconds)[kept]
    assert setup is not None
    return setup


def _one_agent(config: Config, ranks: int, why: str) -> Setup:
    """Set up one agent with its part of the rows, as if all others had the same."""
    assert config.data is not None
    first = FirstPart(config.data.make_source(), ranks)
    config = replace(config, data=replace(config.data, shares=None))
    try:
        setup = _set_up(config, alone(), Given(source=first))
    except UserError as error:
        raise UserError(f"{error} (in the rows of one agent alone, as {why})") from None
    return setup._replace(rows=setup.rows * ranks)


def _set_up(config: Config, comm: Any, given: Given = NOTHING_GIVEN) -> Setup:
    """Set up as a run does; the communicators live as long as the command."""
    return set_up(config, Collective(comm), None, ExitStack(), given)


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


def _on_a_ring(config: Config) -> Config:
    """The config on a ring, which any number of agents can have.

    The minimiser takes long, and is needed only where ε_f depends on it.
    """
    ring = NetworkSection(
        topology="ring",
        weights="laplacian",
        exchange=config.network.exchange,
        placement="none",
        seed=config.network.seed,
    )
    problem = config.problem
    wanted = problem.epsilon is not None and problem.radius is None
    evaluate = config.evaluate
    evaluate = replace(evaluate, reference=evaluate.reference and wanted)
    return replace(config, network=ring, evaluate=evaluate)
