"""Checkpoints: what all agents hold at one step, on disk, the last two of a run.

Every checkpoint is a numbered folder below ``checkpoint`` in the run folder::

    checkpoint/000007/agent-0.state     one for each agent, written by itself
    checkpoint/000007/manifest.json     written last: without it there is no checkpoint
    checkpoint/finished/0-200.state     what an algorithm that is done has left

It holds one algorithm in the middle of its run, or at its end: then that is among the
finished ones too.

All files are new ones, synced and then renamed, and the manifest holds the checksums of
the others and its own. So at any moment the last two complete checkpoints are whole,
whoever is killed and whatever the disk does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from pmgt_mpi.checkpoints import statefile
from pmgt_mpi.checkpoints.manifest import MANIFEST, Manifest, sync_folder
from pmgt_mpi.checkpoints.statefile import Numbers, Seal
from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.output.folder import RunFolder, cannot_write
from pmgt_mpi.output.looking import is_there, names_in
from pmgt_mpi.output.results import Finished

T = TypeVar("T")

FOLDER = "checkpoint"
NUMBER = re.compile("[0-9]+")
KEPT = 2


def numbered(run: Path) -> list[tuple[int, Path]]:
    """Return the checkpoints' folders of a run, the newest first, complete or not."""
    folder = run / FOLDER
    found = [
        (int(name), folder / name)
        for name in names_in(folder)
        if NUMBER.fullmatch(name)
    ]
    return sorted(found, reverse=True)


def complete(run: Path) -> Iterator[Path]:
    """Return the folders of the complete checkpoints of a run, the newest first."""
    return (path for _, path in numbered(run) if is_there(path / MANIFEST))


def agent_file(agent: int) -> str:
    """Name of an agent's file."""
    return f"agent-{agent}.state"


class Checkpoints:
    """Writes the checkpoints of one run; every method is collective.

    Parameters
    ----------
    run
        The run folder, which all agents can write to.
    folder
        The same, opened; on agent 0 only.
    collective
        All agents.
    facts, machines
        See `Manifest`.
    """

    def __init__(
        self,
        run: Path,
        folder: RunFolder | None,
        collective: Collective,
        facts: Numbers,
        machines: list[Numbers],
    ) -> None:
        self.run = run
        self.folder = folder
        self.collective = collective
        self.facts = facts
        self.machines = machines
        self.written = 0
        self._finished: list[Seal] = []
        self._damaged: Collection[Path] = ()

    def take_over(self, finished: list[Seal], damaged: Collection[Path]) -> None:
        """Continue with the checkpoints that a resumed run has left.

        Parameters
        ----------
        finished
            Seals of what algorithms that are done have left already.
        damaged
            Folders that cannot be used: they go when there is a new one.
        """
        self._finished = list(finished)
        self._damaged = damaged

    def save(
        self,
        algorithm: int,
        step: int,
        numbers: Numbers,
        arrays: dict[str, Any],
        done: list[Finished],
    ) -> None:
        """Write a checkpoint; if one agent cannot, all raise and the last ones stay."""
        number = self._on_first(self._begin)
        here = self.run / FOLDER / f"{number:06d}"
        with self._agreed():
            here.mkdir(parents=True, exist_ok=True)
            name = agent_file(self.collective.agent)
            seal = statefile.write(here / name, numbers, arrays)
        seals = self.collective.gather_to_first(seal)
        self._on_first(lambda: self._end(number, algorithm, step, seals, done))
        self.written += 1

    def _begin(self) -> int:
        """Make the folder of the next checkpoint.

        It is there before any agent writes: a rank of a killed job that lingers can
        never write into a folder that a later job has chosen.
        """
        taken = numbered(self.run)
        number = taken[0][0] + 1 if taken else 1
        (self.run / FOLDER / f"{number:06d}").mkdir(parents=True)
        return number

    def _end(
        self,
        number: int,
        algorithm: int,
        step: int,
        seals: list[Seal],
        done: list[Finished],
    ) -> None:
        """Make the checkpoint one, and drop what is older than the one before."""
        assert self.folder is not None
        for place in range(len(self._finished), len(done)):
            # With its steps: an older checkpoint may hold the same one with fewer.
            name = f"{place}-{done[place].steps}.state"
            path = self.run / FOLDER / "finished" / name
            self._finished.append(statefile.write(path, *pack_finished(done[place])))
        if self._finished:
            sync_folder(self.run / FOLDER / "finished")
        length = self.folder.sync_metrics()
        digest = self.folder.metrics_digest(length)
        assert digest is not None
        here = self.run / FOLDER / f"{number:06d}"
        manifest = Manifest(
            number=number,
            algorithm=algorithm,
            step=step,
            metrics=(length, digest),
            agents=seals,
            finished=self._finished,
            facts=self.facts,
            machines=self.machines,
        )
        sync_folder(here.parent)
        manifest.write(here)
        whole = [p for p in complete(self.run) if p not in self._damaged]
        for path in complete(self.run):
            if path not in whole[:KEPT]:
                (path / MANIFEST).unlink()  # first: half of a checkpoint is none
        from shutil import rmtree  # agent 0 alone, and not before the first step

        for other, path in numbered(self.run):
            if other < number and not (path / MANIFEST).exists():
                # A rank of a killed job may still be writing there: the next time.
                rmtree(path, ignore_errors=True)

    def _on_first(self, work: Callable[[], T]) -> T:
        """Do work on agent 0; if it cannot, all raise."""
        result: T | None = None
        with self._agreed():
            if self.collective.agent == 0:
                result = work()
        return self.collective.from_first(result)  # type: ignore[no-any-return]

    @contextmanager
    def _agreed(self) -> Iterator[None]:
        """Let all raise if one agent cannot write."""
        with self.collective.agreed():
            try:
                yield
            except OSError as error:
                raise cannot_write(self.run, f"{FOLDER}/", error) from None


def pack_finished(run: Finished) -> tuple[Numbers, dict[str, Any]]:
    """What the results need of an algorithm that is done."""
    numbers = {
        "label": run.label,
        "name": run.name,
        "status": run.status,
        "steps": run.steps,
        "notes": run.notes,
        "parameters": run.parameters,
        "record": run.records[-1],
        "ranks": run.ranks,
        "edges": run.edges,
        "advice": run.advice,
    }
    return numbers, {"x": run.x, "x_agents": run.x_agents}


def unpack_finished(numbers: Numbers, arrays: dict[str, Any]) -> Finished:
    """Return an algorithm that is done as agent 0 told of it."""
    return Finished(
        label=numbers["label"],
        name=numbers["name"],
        status=numbers["status"],
        steps=numbers["steps"],
        notes=numbers["notes"],
        parameters=numbers["parameters"],
        records=[numbers["record"]],
        x=arrays["x"],
        x_local=arrays["x_agents"][0],
        x_agents=arrays["x_agents"],
        ranks=numbers["ranks"],
        edges=numbers["edges"],
        advice=numbers["advice"],
    )
