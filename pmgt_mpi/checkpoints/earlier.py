"""The earlier run that a resumed one continues: which folder, and whether it may."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

from pmgt_mpi.checkpoints.manifest import Manifest
from pmgt_mpi.checkpoints.statefile import DamagedError
from pmgt_mpi.checkpoints.store import complete
from pmgt_mpi.config.compare import differences
from pmgt_mpi.config.schema import Config
from pmgt_mpi.errors import UserError
from pmgt_mpi.output.folder import RunFolder
from pmgt_mpi.output.looking import (
    is_there,
    names_in,
    read_plain,
    refuse_links,
    refuse_schema,
    unreadable,
)
from pmgt_mpi.terminal import say

AUTO = "auto"
UNTOUCHED = {"metrics.jsonl", "asked.toml", "config.toml", "meta.json"}
"""Files of a run that was ended before its first checkpoint."""


class Earlier(NamedTuple):
    """A run that is resumed, as agent 0 has found it.

    Attributes
    ----------
    folder
        Its folder, locked.
    asked, resolved
        Its config; None if it was ended before that was written.
    """

    folder: RunFolder
    asked: Config | None
    resolved: Config | None


def folder_of(resume: str | None, out: Path | None, name: str) -> Path | None:
    """Return the folder to resume; None to start a new run.

    Parameters
    ----------
    resume, out
        As on the command line.
    name
        Of the run, where a folder is to be looked for in ``runs``.
    """
    if resume is None:
        return None
    if resume != AUTO:
        return named_folder(resume)
    if out is not None:
        return out if _is_folder(out) else None
    pattern = re.compile(re.escape(name) + r"-\d{8}-\d{6}(-\d+)?")
    runs = Path("runs")
    found = [runs / name for name in names_in(runs) if pattern.fullmatch(name)]
    unfinished = [path for path in found if not _is_finished(path)]
    return max(unfinished, key=lambda path: path.stat().st_mtime, default=None)


def named_folder(name: str) -> Path:
    """Return the folder that --resume names."""
    path = Path(name)
    if not _is_folder(path):
        raise UserError(
            f"--resume {path}: there is no such run folder; --resume auto starts a new "
            "run where there is none"
        )
    return path


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError as error:
        raise unreadable(path, error) from None


def config_in(folder: Path) -> Path:
    """Return the config that a run folder holds, in the user's words."""
    refuse_links(folder)
    refuse_schema(folder)
    if not is_there(folder / "asked.toml"):
        raise UserError(
            f"--resume {folder}: it holds no asked.toml, so it is no run folder or "
            "its run was ended before it began; name the config with --config"
        )
    return folder / "asked.toml"


def open_earlier(path: Path, *, allow_plugins: bool) -> Earlier:
    """Lock the folder of a run and read its config; on agent 0."""
    from pmgt_mpi.config.read import read_config

    refuse_schema(path)
    config = path / "config.toml"
    begun = is_there(config)
    if not begun:
        strange = sorted(
            name
            for name in names_in(path)
            if name not in UNTOUCHED and not name.endswith(".part")
        )
        if strange:
            raise UserError(
                f"{path} is no run folder: it has no config.toml, but {strange[0]}; "
                "choose another with --out"
            )
    elif not is_there(path / "metrics.jsonl"):
        raise UserError(
            f"{path} is no run folder: it has a config.toml, but no metrics.jsonl; "
            "choose another with --out"
        )
    folder = RunFolder(path, reopen=True)
    if not begun:
        return Earlier(folder, None, None)
    try:
        asked, resolved = (
            read_config(path / name, allow_plugins=allow_plugins)
            for name in ("asked.toml", "config.toml")
        )
    except UserError as error:
        raise UserError(
            f"{error} (it is not as a run writes it: put the original back, or start a "
            "new run with another --out)"
        ) from None
    return Earlier(folder, asked, resolved)


def check_same(earlier: Earlier, now: Config, ranks: int) -> None:
    """Refuse another config or number of ranks, before any data are read."""
    assert earlier.asked is not None
    assert earlier.resolved is not None
    path = earlier.folder.path
    refuse(path, differences(earlier.asked, earlier.resolved, now))
    before = _ranks(path)
    if before is not None and before != ranks:
        raise UserError(
            f"cannot resume {path}: the number of ranks is {ranks}, and was {before}; "
            f"start {before} ranks, or a new run with another --out"
        )


def _ranks(path: Path) -> int | None:
    """Ranks of an earlier run, as far as it tells."""
    for checkpoint in complete(path):
        try:
            return int(Manifest.read(checkpoint).facts["agents"])
        except DamagedError:
            continue
    try:
        return len(json.loads((path / "meta.json").read_text())["hosts"])
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return None


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


def exit_code_of_ended(earlier: Earlier, now: Config, diverged: int) -> int | None:
    """Return the exit code of a run that came to its end already; None to continue it.

    Parameters
    ----------
    diverged
        The exit code where an algorithm diverged.
    """
    done, path = _results(earlier, now), earlier.folder.path
    if done is None or earlier.resolved is None:
        return None
    refuse_shorter(path, now, done)
    if is_extended(earlier.resolved, now, len(done) - 1, done[-1]):
        if not any(complete(path)):
            raise UserError(
                f"cannot resume {path}: its run has ended and left no checkpoint "
                "([checkpoint] minutes = 0) to continue from with a longer budget; "
                "start a new run with another --out"
            )
        return None
    say(f"run folder: {path} (finished already, nothing to do)")
    tell_untouched(now, done)
    earlier.folder.close()
    return diverged if any(run.status == "diverged" for run in done) else 0


def tell_untouched(config: Config, done: list[Done]) -> None:
    """Say which algorithms have ended with fewer steps than their budget is now."""
    for section, run in zip(config.algorithm, done, strict=False):
        if run.status == "budget" and run.steps < config.steps(section):
            say(f"note: {run.label} has ended after {run.steps} steps and stays so")


def refuse_shorter(folder: Path, config: Config, done: list[Done]) -> None:
    """Refuse a budget of less than what is done: nothing is taken back."""
    for section, run in zip(config.algorithm, done, strict=False):
        budget = config.steps(section)
        if budget < run.steps:
            raise UserError(
                f"cannot resume {folder}: {run.label} has done {run.steps} steps, "
                f"and its budget is {budget} now; give {run.steps} or more, "
                "or start a new run with another --out"
            )


def is_extended(before: Config, now: Config, number: int, run: Done) -> bool:
    """Whether an algorithm that came to the end of its budget has a longer one now.

    Parameters
    ----------
    before, now
        The configs of the run as it was, and as it is to be.
    number, run
        Of the algorithm, and how far it came.
    """
    budgets = [(each.stop, each.algorithm[number].steps) for each in (before, now)]
    seconds = now.stop.seconds
    return (
        run.status == "budget"
        and budgets[0] != budgets[1]
        and run.steps < now.steps(now.algorithm[number])
        and (seconds is None or run.seconds < seconds)
    )


def _results(earlier: Earlier, now: Config) -> list[Done] | None:
    """How far each algorithm of a run came, if it came to its end."""
    done = _summary(earlier.folder.path) or []
    ended = len(done) == len(now.algorithm)
    return done if ended and all(d.status != "interrupted" for d in done) else None


def _summary(path: Path) -> list[Done] | None:
    """How far the algorithms came of a run that has left its results.

    A summary that says nothing is no sign that the run has not ended.
    """
    file = path / "summary.json"
    try:
        done = [_done(one) for one in json.loads(read_plain(file))]
        if not done:
            raise ValueError
    except FileNotFoundError:
        return None
    except OSError as error:
        raise unreadable(file, error) from None
    except (ValueError, LookupError, TypeError, RecursionError):
        raise UserError(
            f"{file} is not what a run has written, so that nobody knows whether the "
            "run in its folder has ended; put the original back, or start a new run "
            "with another --out"
        ) from None
    return done


def _done(told: Any) -> Done:
    """What summary.json tells of one algorithm."""
    steps, seconds = told["step"], told["seconds"]
    if not isinstance(steps, int) or not isinstance(seconds, int | float):
        raise TypeError
    return Done(told["algorithm"], told["status"], steps, seconds)


def _is_finished(path: Path) -> bool:
    try:
        done = _summary(path)
    except UserError:  # which is told if that is the run to resume
        return False
    return done is not None and all(run.status != "interrupted" for run in done)
