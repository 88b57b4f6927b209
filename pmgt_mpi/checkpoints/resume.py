"""Continuing a run: from which checkpoint, and what is not as it was."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from pmgt_mpi.checkpoints import statefile
from pmgt_mpi.checkpoints.earlier import (
    Done,
    Earlier,
    is_extended,
    refuse,
    refuse_shorter,
    tell_untouched,
)
from pmgt_mpi.checkpoints.identity import changed_machines, differing_facts
from pmgt_mpi.checkpoints.manifest import Manifest
from pmgt_mpi.checkpoints.policy import Saved
from pmgt_mpi.checkpoints.statefile import DamagedError, Numbers
from pmgt_mpi.checkpoints.store import FOLDER, agent_file, complete, unpack_finished
from pmgt_mpi.config.schema import Config
from pmgt_mpi.errors import UserError
from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.output.folder import RunFolder
from pmgt_mpi.output.results import Finished
from pmgt_mpi.terminal import say


class Resumed(NamedTuple):
    """What an earlier run has left.

    Attributes
    ----------
    done, saved
        The algorithms that are done, and what this agent continues from.
    finished, damaged
        For the next checkpoints: see `Checkpoints`.
    history
        For meta.json, on agent 0: when and from where the run was resumed.
    """

    done: list[Finished]
    saved: Saved | None
    finished: list[statefile.Seal]
    damaged: list[Path]
    history: list[dict[str, Any]]


def reopen(
    run: Path,
    earlier: Earlier | None,
    config: Config,
    collective: Collective,
    here: Numbers,
    machines: list[Numbers],
) -> Resumed:
    """Find the place from which a run continues, and cut its records there; collective.

    Parameters
    ----------
    run
        The run folder.
    earlier
        The run in it; on agent 0 only.
    config
        Of the run as it is to be.
    here, machines
        What the run is made of now, and on what it runs.
    """
    folder = None if earlier is None else earlier.folder
    found = newest(run, folder, collective)
    extended = False
    with collective.agreed():
        if found is not None:
            refuse(run, differing_facts(found.manifest.facts, here))
            if earlier is not None:
                extended = _is_extended(earlier, config, found)
    done: list[Finished] = []
    saved: Saved | None = None
    if found is not None:
        done, saved = _place(found, collective.from_first(extended))
    history: list[dict[str, Any]] = []
    if folder is not None:
        history = _history(folder.path)
        history.append(_tell(folder, found, machines, (len(done), saved)))
        tell_untouched(config, [_how_far(one) for one in done])
        folder.cut_metrics(0 if found is None else found.manifest.metrics[0])
        folder.forget_summary()
    return Resumed(
        done,
        saved,
        [] if found is None else found.manifest.finished[: len(done)],
        [] if found is None else list(found.damaged),
        history,
    )


def _how_far(run: Finished) -> Done:
    return Done(run.label, run.status, run.steps, run.records[-1]["seconds"])


def _is_extended(earlier: Earlier, config: Config, found: Found) -> bool:
    """Whether the algorithm that the checkpoint saw end has a longer budget now.

    A budget that is shorter than what is done is refused.
    """
    assert earlier.resolved is not None
    number = found.manifest.algorithm
    far = [_how_far(run) for run in found.done]
    has_ended = len(far) > number
    if not has_ended:
        label = config.algorithm[number].label
        far.append(Done(label, "interrupted", found.manifest.step, 0.0))
    refuse_shorter(earlier.folder.path, config, far)
    return has_ended and is_extended(earlier.resolved, config, number, far[-1])


def _place(found: Found, extended: bool) -> tuple[list[Finished], Saved | None]:
    """Return what is done, and the state to continue from, if there is one."""
    number = found.manifest.algorithm
    if extended or len(found.done) == number:
        return found.done[:number], found.saved
    return found.done, None


def _tell(
    folder: RunFolder,
    found: Found | None,
    machines: list[dict[str, Any]],
    place: tuple[int, Saved | None],
) -> dict[str, int]:
    """Tell the user where the run continues, and what is not as it was."""
    if found is None:
        say(f"note: {folder.path} has no checkpoint; the run starts from the beginning")
        return {"algorithm": 0, "step": 0}
    for path, why in found.damaged.items():
        say(f"warning: checkpoint {path.name} is damaged and is not used: {why}")
    changed = changed_machines(found.manifest.machines, machines)
    if changed:
        say(
            f"warning: {'; '.join(changed)}: the last bits may differ from those of a "
            "run that was not interrupted"
        )
    number, saved = place
    step = 0 if saved is None else saved.step
    say(
        f"resuming {folder.path} from checkpoint {found.manifest.number}: "
        f"algorithm {number + 1}, step {step}"
    )
    return {"algorithm": number, "step": step}


def _history(run: Path) -> list[dict[str, Any]]:
    """What meta.json tells of earlier times that the run was resumed."""
    try:
        meta = json.loads((run / "meta.json").read_text())
        return list(meta["resumed"])
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return []


class Found(NamedTuple):
    """A checkpoint that is whole, as one agent sees it.

    Attributes
    ----------
    manifest, saved, done
        Its manifest, this agent's part, and the algorithms that are done.
    damaged
        Newer ones that are not whole, with what is wrong with each.
    """

    manifest: Manifest
    saved: Saved
    done: list[Finished]
    damaged: dict[Path, str]


def newest(run: Path, folder: RunFolder | None, collective: Collective) -> Found | None:
    """Find the newest checkpoint that is whole on every agent; collective.

    One that is damaged is passed over. If there was none, the run begins at step 0; if
    there were some and none is whole, that is an error, since this would throw away
    what they tell. Nothing is changed on the disk.
    """
    candidates = None
    with collective.agreed():
        if folder is not None:
            candidates = [str(path) for path in complete(run)]
    damaged: dict[Path, str] = {}
    for name in collective.from_first(candidates):
        path, found, problem = Path(name), None, None
        with collective.agreed():
            try:
                found = _read(path, folder, collective.agent)
            except DamagedError as error:
                problem = str(error)
        problem = collective.first_word(problem)
        if problem is None:
            assert found is not None
            return _shared(collective, found)._replace(damaged=damaged)
        damaged[path] = problem
    if damaged:
        with collective.agreed():
            reasons = "; ".join(f"{path.name}: {why}" for path, why in damaged.items())
            raise UserError(
                f"no checkpoint of {run} is whole: {reasons}; start a new run with "
                "another --out"
            )
    return None


def _read(path: Path, folder: RunFolder | None, agent: int) -> Found:
    """Read one agent's part of a checkpoint; agent 0 also what is done."""
    manifest = Manifest.read(path)
    seals = {seal.file: seal for seal in manifest.agents}
    seal = seals.get(agent_file(agent))
    if seal is None:
        raise DamagedError(f"{path} holds nothing of agent {agent}")
    numbers, arrays = statefile.read(path, seal)
    done = []
    if folder is not None:
        length, digest = manifest.metrics
        if folder.metrics_digest(length) != digest:
            raise UserError(
                f"{folder.path / 'metrics.jsonl'} was changed after checkpoint "
                f"{path.name} was written; put the original back, or start a new run "
                "with another --out"
            )
        for seal in manifest.finished:
            home = folder.path / FOLDER / "finished"
            done.append(unpack_finished(*statefile.read(home, seal)))
    return Found(manifest, Saved(manifest.step, numbers, arrays), done, {})


def _shared(collective: Collective, found: Found) -> Found:
    """Tell every agent which algorithms are done, without their arrays."""
    light = [run._replace(x_agents=None) for run in found.done]
    done = collective.from_first(light)
    return found if collective.agent == 0 else found._replace(done=done)
