"""The run folder, new or continued, and what it holds before the first step."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pmgt_mpi.checkpoints.identity import facts, machine
from pmgt_mpi.checkpoints.policy import Saved
from pmgt_mpi.checkpoints.statefile import Numbers
from pmgt_mpi.checkpoints.store import Checkpoints
from pmgt_mpi.config.schema import Config
from pmgt_mpi.environment import crowding
from pmgt_mpi.execution.engine import Engine
from pmgt_mpi.execution.setup import Setup
from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.mpi.world import library, place, vendor
from pmgt_mpi.output.folder import RunFolder, default_path
from pmgt_mpi.output.meta import circumstances
from pmgt_mpi.output.results import Finished
from pmgt_mpi.terminal import say

if TYPE_CHECKING:
    from pmgt_mpi.checkpoints.earlier import Earlier

ROUGH_REFERENCE = 1e-10
"""Relative residual of the minimiser above which the user is told."""


class Output(NamedTuple):
    """What the command wants written.

    Attributes
    ----------
    path
        The run folder; None for the usual place.
    config_path
        The file that the config came from.
    started
        When the run began, on the monotonic clock.
    resumes
        Whether an earlier run is continued.
    asked, earlier
        The config in the user's words, and the earlier run; on rank 0 only.
    """

    path: Path | None
    config_path: Path
    started: float
    resumes: bool
    asked: Config | None
    earlier: Earlier | None


class Folder(NamedTuple):
    """The run folder: its path on every agent, and itself on agent 0."""

    path: Path
    files: RunFolder | None


class Past(NamedTuple):
    """What an earlier part of the run has left.

    Attributes
    ----------
    done, saved
        The algorithms that are done, and what this agent continues from.
    history
        For meta.json, on agent 0: when and from where the run was resumed.
    """

    done: list[Finished]
    saved: Saved | None
    history: list[dict[str, Any]]


def open_folder(output: Output, config: Config, collective: Collective) -> Folder:
    """Make the run folder, or take the one that is continued; collective."""
    files = None
    with collective.agreed():
        if collective.agent == 0:
            if output.earlier is not None:
                files = output.earlier.folder
            else:
                files = RunFolder(output.path or default_path(config.run.name))
    path = None if files is None else str(files.path.resolve())
    return Folder(Path(collective.from_first(path)), files)


def open_checkpoints(folder: Folder, setup: Setup, engine: Engine) -> Checkpoints:
    """Return what writes the checkpoints of this run; collective."""
    collective = setup.collective
    here = facts(collective, setup.neighbourhood, setup.digest, setup.x0, engine.name)
    machines = collective.gather(machine())
    return Checkpoints(*folder, collective, here, machines)


def nothing_past() -> Past:
    """Return what there is before a run that is new."""
    return Past([], None, [])


def continue_earlier(output: Output, config: Config, checkpoints: Checkpoints) -> Past:
    """Find the place from which the run in the folder continues; collective."""
    from pmgt_mpi.checkpoints.resume import reopen

    resumed = reopen(
        checkpoints.run,
        output.earlier,
        config,
        checkpoints.collective,
        checkpoints.facts,
        checkpoints.machines,
    )
    checkpoints.take_over(resumed.finished, resumed.damaged)
    return Past(resumed.done, resumed.saved, resumed.history)


def write_config(folder: Folder, output: Output, config: Config) -> None:
    """Write the config as asked, and with numbers for its words; agent 0 does."""
    if folder.files is None:
        return
    from pmgt_mpi.config.write import toml_values

    assert output.asked is not None
    folder.files.write_toml("asked.toml", toml_values(output.asked))
    folder.files.write_toml("config.toml", toml_values(config))


def write_meta(
    folder: Folder,
    output: Output,
    config: Config,
    setup: Setup,
    engine: Engine,
    machines: list[Numbers],
    past: Past,
) -> dict[str, Any]:
    """Write meta.json, and say what the user should know; collective.

    It is returned on agent 0, where the end of the run adds to it.
    """
    places = setup.collective.gather(place())
    neighbours = setup.collective.gather(setup.neighbourhood.neighbours)
    if folder.files is None:
        return {}
    hosts = [host for host, _ in places]
    ends = [hosts[i] != hosts[j] for i, row in enumerate(neighbours) for j in row]
    meta = {
        **circumstances(library()),
        "hosts": hosts,
        "seed": config.run.seed,
        "engine": engine.facts(setup.problem),
        "machines": [own for i, own in enumerate(machines) if own not in machines[:i]],
        "config": str(output.config_path.resolve()),
        "resumed": past.history,
        "setup_seconds": time.monotonic() - output.started,
        "constants_seconds": setup.constants_seconds,
        "network": setup.network._asdict(),
        "neighbours": neighbours,
        "constants": setup.constants and setup.constants._asdict(),
        "epsilon_f": setup.epsilon_f,
        "rows": setup.rows,
        "reference_residual": setup.reference and setup.reference.residual,
        "across_hosts": {"edges": sum(ends) // 2},
    }
    folder.files.write_json("meta.json", meta)
    _tell_set_up(setup, engine, places)
    return meta


def _tell_set_up(setup: Setup, engine: Engine, places: list[Any]) -> None:
    """Say what the user should know before the first step."""
    say(f"engine: {engine.name}" + (f", as {engine.why}" if engine.why else ""))
    if warning := crowding(places, vendor()):
        say_note(warning)
    if setup.epsilon_f is not None:
        say_note(
            f"for epsilon the algorithms minimise F(x) + (eps_f/2)‖x‖² with "
            f"eps_f = {setup.epsilon_f:.3g}; what is told is F"
        )
    if setup.reference is not None and setup.reference.residual > ROUGH_REFERENCE:
        say_note(
            f"the reference minimiser has a relative residual of "
            f"{setup.reference.residual:.1e}; smaller suboptimalities mean nothing"
        )


def say_note(text: str) -> None:
    """Say something that the user should know."""
    say(f"note: {text}")
