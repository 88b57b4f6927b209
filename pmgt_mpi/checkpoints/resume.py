"""Resuming a run: which folder, whether it may, and from which checkpoint."""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import Any, NamedTuple

from pmgt_mpi.checkpoints import statefile
from pmgt_mpi.checkpoints.keeper import Saved
from pmgt_mpi.checkpoints.manifest import Manifest
from pmgt_mpi.checkpoints.statefile import DamagedError
from pmgt_mpi.checkpoints.store import (
    FOLDER,
    agent_file,
    complete,
    unpack_finished,
)
from pmgt_mpi.config.plan import Plan
from pmgt_mpi.errors import UserError
from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.output.folder import RunFolder
from pmgt_mpi.output.results import Finished

AUTO = "auto"
UNTOUCHED = {"metrics.jsonl", "config.toml", "meta.json"}
"""Files of a run that was ended before its first checkpoint."""


class Earlier(NamedTuple):
    """A run that is resumed, as agent 0 has found it.

    Attributes
    ----------
    folder
        Its folder, locked.
    config
        Its resolved config; None if it was ended before that was written.
    """

    folder: RunFolder
    config: dict[str, Any] | None

    def summary(self) -> list[dict[str, Any]] | None:
        """What it has left as its results, if it came so far."""
        try:
            summary = json.loads((self.folder.path / "summary.json").read_text())
        except (OSError, ValueError, RecursionError):
            return None
        return summary if isinstance(summary, list) else None


def wanted_folder(options: argparse.Namespace, name: str | None) -> Path | None:
    """Return the folder to resume; None to start a new run.

    Parameters
    ----------
    name
        Of the run, where a folder is to be looked for in ``runs``.
    """
    if options.resume is None:
        return None
    if options.resume != AUTO:
        return _named(options.resume)
    if options.out is not None:
        return options.out if options.out.is_dir() else None
    pattern = re.compile(re.escape(name or "") + r"-\d{8}-\d{6}(-\d+)?")
    found = [p for p in Path("runs").glob("*") if pattern.fullmatch(p.name)]
    unfinished = [path for path in found if not _is_finished(path)]
    return max(unfinished, key=lambda path: path.stat().st_mtime, default=None)


def config_of(options: argparse.Namespace) -> Path:
    """Return the config: the one that is named, else the one in the folder."""
    if options.config is not None:
        config: Path = options.config
        return config
    folder = _named(options.resume)
    if not (folder / "config.toml").exists():
        raise UserError(
            f"--resume {folder}: it holds no config.toml, so it is no run folder or "
            "its run was ended before it began; name the config with --config"
        )
    return folder / "config.toml"


def read_plan(options: argparse.Namespace) -> Plan:
    """Read the config, with what the command line changes of it; on agent 0."""
    from pmgt_mpi.config.read import check_config, override, read_toml

    path = config_of(options)
    values = read_toml(path)
    override(values, options.set)
    folder = str(path.resolve().parent)
    return check_config(values, str(path), folder, allow_plugins=options.allow_plugins)


def _named(name: str) -> Path:
    """Return the folder that --resume names."""
    path = Path(name)
    if not path.is_dir():
        raise UserError(
            f"--resume {path}: there is no such run folder; --resume auto starts a new "
            "run where there is none"
        )
    return path


def open_earlier(path: Path) -> Earlier:
    """Lock the folder of a run and read its config; on agent 0."""
    from pmgt_mpi.config.read import SECTIONS, read_toml

    config = path / "config.toml"
    if not config.exists():
        strange = sorted(
            file.name
            for file in path.iterdir()
            if file.name not in UNTOUCHED and not file.name.endswith(".part")
        )
        if strange:
            raise UserError(
                f"{path} is no run folder: it has no config.toml, but {strange[0]}; "
                "choose another with --out"
            )
    elif not (path / "metrics.jsonl").exists():
        raise UserError(
            f"{path} is no run folder: it has a config.toml, but no metrics.jsonl; "
            "choose another with --out"
        )
    folder = RunFolder(path, reopen=True)
    values = read_toml(config) if config.exists() else None
    if values is not None and set(values) != set(SECTIONS):
        raise UserError(
            f"{config} is not as a run writes it: it lacks a section, or has another; "
            "put the original back, or start a new run with another --out"
        )
    return Earlier(folder, values)


def check_agents(earlier: Earlier, agents: int) -> None:
    """Refuse another number of ranks before any data are read."""
    before = None
    for path in complete(earlier.folder.path):
        try:
            before = Manifest.read(path).facts["agents"]
            break
        except DamagedError:
            continue
    if before is None:
        try:
            meta = json.loads((earlier.folder.path / "meta.json").read_text())
            before = len(meta["hosts"])
        except (OSError, ValueError, LookupError, TypeError, RecursionError):
            return
    if before != agents:
        raise UserError(
            f"cannot resume {earlier.folder.path}: the number of ranks is "
            f"{agents}, and was {before}; start {before} ranks, or a new run with "
            "another --out"
        )


def refuse(folder: Path, told: list[str]) -> None:
    """Refuse to continue where something differs."""
    if told:
        raise UserError(
            f"cannot resume {folder}: {'; '.join(told)}. Only [stop] and "
            "[checkpoint] may change; start a new run with another --out"
        )


class Done(NamedTuple):
    """How far an algorithm came: what summary.json and a checkpoint both tell."""

    label: str
    status: str
    steps: int
    seconds: float


def refuse_shorter(folder: Path, plan: Plan, done: list[Done]) -> None:
    """Refuse a budget of less than what is done: nothing is taken back."""
    for algorithm, run in zip(plan.algorithms, done, strict=False):
        if algorithm.steps < run.steps:
            raise UserError(
                f"cannot resume {folder}: {run.label} has done {run.steps} steps, "
                f"and its budget is {algorithm.steps} now; give {run.steps} or more, "
                "or start a new run with another --out"
            )


def is_extended(
    before: dict[str, Any], now: dict[str, Any], plan: Plan, number: int, run: Done
) -> bool:
    """Whether an algorithm that came to the end of its budget has a longer one now.

    Parameters
    ----------
    before, now
        The resolved configs of the run as it was, and as it is to be.
    number, run
        Of the algorithm, and how far it came.
    """
    budgets = [
        (config["stop"], config["algorithm"][number].get("steps"))
        for config in (before, now)
    ]
    seconds = plan.stop.seconds
    return (
        run.status == "budget"
        and budgets[0] != budgets[1]
        and run.steps < plan.algorithms[number].steps
        and (seconds is None or run.seconds < seconds)
    )


def results(earlier: Earlier, plan: Plan) -> list[Done] | None:
    """How far each algorithm of a run came, if it came to its end."""
    summary = earlier.summary()
    try:
        done = [
            Done(one["algorithm"], one["status"], one["step"], one["seconds"])
            for one in summary or []
        ]
    except (LookupError, TypeError):
        return None
    ended = len(done) == len(plan.algorithms)
    return done if ended and all(d.status != "interrupted" for d in done) else None


def _is_finished(path: Path) -> bool:
    try:
        summary = json.loads((path / "summary.json").read_text())
        return all(one["status"] != "interrupted" for one in summary)
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return False


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

    One that is damaged is passed over. If there was none, the run begins anew; if there
    were some and none is whole, that is an error, since beginning anew would throw away
    what they tell. Nothing is changed on the disk.
    """
    candidates = None
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
            told = "; ".join(f"{path.name}: {why}" for path, why in damaged.items())
            raise UserError(
                f"no checkpoint of {run} is whole: {told}; start a new run with "
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
    told = collective.from_first(light)
    return found if collective.agent == 0 else found._replace(done=told)
