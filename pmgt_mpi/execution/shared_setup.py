"""Set-ups of many runs on the same ranks: what two of them share is made once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, NamedTuple

from pmgt_mpi.config.schema import Config
from pmgt_mpi.execution.engine import Engine, choose_engine
from pmgt_mpi.execution.given import NOTHING_GIVEN
from pmgt_mpi.execution.network import Place, take_places
from pmgt_mpi.execution.setup import Setup, load_rows, make_functions, measure
from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.watchdog.watchdog import Watchdog


class Ready(NamedTuple):
    """What a run is done with; `fingerprint` is that of rows and network."""

    engine: Engine
    setup: Setup
    fingerprint: str


class SetUps:
    """Set-ups one after the other: a phase is done again where its input has changed.

    Parameters
    ----------
    everyone
        All ranks.
    watchdog
        Looks on.
    """

    PHASES = ("rows", "functions", "measured")
    """What holds memory, in the order in which one is made from the one before it."""

    def __init__(self, everyone: Collective, watchdog: Watchdog) -> None:
        self.everyone, self._watchdog = everyone, watchdog
        self._kept: dict[str, tuple[Any, Any]] = {}
        self._place: Place | None = None

    def ready(self, config: Config) -> Ready:
        """Do all that comes before the first algorithm, or take it; collective."""
        self._watchdog.begin_set_up()
        run, data, network = config.run, config.data, config.network
        engine = self._once(
            "engine", run.engine, lambda: choose_engine(self.everyone, run.engine)
        )
        drawn = run.seed if network.seed is None else network.seed
        where = (replace(network, seed=drawn), config.folder)
        place = self._once("place", where, lambda: self._take_places(config))
        collective = place.collective
        if data is not None:
            data = replace(data, seed=run.seed if data.seed is None else data.seed)
        of_rows = (data, run.dtype, config.folder, collective)
        loaded = self._once(
            "rows", of_rows, lambda: load_rows(config, NOTHING_GIVEN, collective)
        )
        of_functions = (of_rows, config.problem, config.regularizer)
        functions = self._once(
            "functions",
            of_functions,
            lambda: make_functions(config, NOTHING_GIVEN, loaded.shard, collective),
        )
        setup = self._once(
            "measured",
            (of_functions, config.evaluate.reference),
            lambda: measure(config, place, loaded, *functions),
        )
        setup = setup._replace(**place._asdict())
        return Ready(engine, setup, _fingerprint(setup))

    def _once(self, phase: str, key: Any, make: Callable[[], Any]) -> Any:
        """Return what a phase has made of the same key, else let it make that."""
        if phase not in self._kept or self._kept[phase][0] != key:
            from_here = self.PHASES.index(phase) if phase in self.PHASES else None
            stale = [phase] if from_here is None else self.PHASES[from_here:]
            for name in stale:  # two shards may be too many
                self._kept.pop(name, None)
            self._kept[phase] = key, make()
        return self._kept[phase][1]

    def _take_places(self, config: Config) -> Place:
        """Build a network; ranks that are the same agents as before keep their rows."""
        before, everyone = self._place, self.everyone
        made = ExitStack()
        place = take_places(config, NOTHING_GIVEN, everyone, made)
        agent = place.collective.agent
        if before is not None and everyone.max(int(agent != before.comm.rank)) == 0:
            made.close()
            return place._replace(comm=before.comm, collective=before.collective)
        self._watchdog.learn_agents(place.collective)
        self._place = place
        return place


def _fingerprint(setup: Setup) -> str:
    """What rows and which network all agents have; collective."""
    row = setup.neighbourhood
    own = [setup.digest, row.neighbours, row.weights.tolist(), row.own_weight]
    text = json.dumps(setup.collective.gather(own))
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
