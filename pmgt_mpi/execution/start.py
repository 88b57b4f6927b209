"""How a run starts: anew, or where an earlier one stopped."""

from __future__ import annotations

import argparse
import json
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

from pmgt_mpi.checkpoints.identity import (
    changed_machines,
    differences,
    differing_facts,
    facts,
    machine,
)
from pmgt_mpi.checkpoints.keeper import Saved, Upkeep
from pmgt_mpi.checkpoints.resume import (
    Done,
    Earlier,
    Found,
    check_agents,
    is_extended,
    newest,
    open_earlier,
    read_plan,
    refuse,
    refuse_shorter,
    results,
    wanted_folder,
)
from pmgt_mpi.checkpoints.store import Checkpoints, complete
from pmgt_mpi.config.plan import Plan
from pmgt_mpi.environment import STARTED
from pmgt_mpi.errors import UserError
from pmgt_mpi.execution.stage import Stage
from pmgt_mpi.mpi.collective import Collective
from pmgt_mpi.output.folder import RunFolder, default_path
from pmgt_mpi.output.results import Finished
from pmgt_mpi.terminal import say
from pmgt_mpi.watchdog.signals import Sentry
from pmgt_mpi.watchdog.watchdog import Watchdog


class Beginning(NamedTuple):
    """What is known before the set-up.

    Attributes
    ----------
    plan
        The config after it has been checked.
    resolved
        The same as TOML values; on agent 0.
    earlier
        The run that is resumed; on agent 0.
    exit_code
        If there is nothing to do.
    """

    plan: Plan
    resolved: dict[str, Any] | None
    earlier: Earlier | None
    exit_code: int | None


def begin(options: argparse.Namespace, first: Collective) -> Beginning:
    """Read the config on agent 0, and see whether there is a run to resume.

    The folder of an earlier run is locked and held against the config before any data
    are read; the other agents get the plan.
    """
    told: tuple[Plan, int | None] | None = None
    resolved, earlier = None, None
    with first.agreed():
        if first.agent == 0:
            from pmgt_mpi.config.write import resolved_config

            plan = read_plan(options)
            resolved = resolved_config(plan)
            exit_code = None
            if (path := wanted_folder(options, plan.name)) is not None:
                earlier = open_earlier(path)
                if earlier.config is not None:
                    if plan.engine == "auto":  # continues with the one that began
                        plan = plan._replace(
                            engine=earlier.config["run"].get("engine", "auto")
                        )
                        resolved = resolved_config(plan)
                    _take_over_cadence(earlier.config, resolved)
                    refuse(path, differences(earlier.config, resolved))
                    check_agents(earlier, first.agents)
                    exit_code = _done(earlier, plan, resolved)
            told = plan, exit_code
    told = first.from_first(told)
    assert told is not None
    return Beginning(told[0], resolved, earlier, told[1])


def _take_over_cadence(before: dict[str, Any], now: dict[str, Any]) -> None:
    """Put the numbers that an automatic cadence became in the place of the word."""
    for old, new in zip(before["algorithm"], now["algorithm"], strict=False):
        asked = new.get("evaluate_every", now["evaluate"]["every"])
        if asked == "auto" and "evaluate_every" in old:
            new["evaluate_every"] = old["evaluate_every"]


def _done(earlier: Earlier, plan: Plan, now: dict[str, Any]) -> int | None:
    """Return the exit code of a run that came to its end already."""
    done, path = results(earlier, plan), earlier.folder.path
    if done is None or earlier.config is None:
        return None
    refuse_shorter(path, plan, done)
    if is_extended(earlier.config, now, plan, len(done) - 1, done[-1]):
        if not any(complete(path)):
            raise UserError(
                f"cannot resume {path}: its run has ended and left no checkpoint "
                "([checkpoint] minutes = 0), to continue from with a longer budget; "
                "start a new run with another --out"
            )
        return None
    say(f"run folder: {path} (finished already, nothing to do)")
    _tell_untouched(plan, done)
    earlier.folder.close()
    return 3 if any(run.status == "diverged" for run in done) else 0


def _tell_untouched(plan: Plan, done: list[Done]) -> None:
    """Say which algorithms have ended with fewer steps than their budget is now."""
    for algorithm, run in zip(plan.algorithms, done, strict=False):
        if run.status == "budget" and run.steps < algorithm.steps:
            say(f"note: {run.label} has ended after {run.steps} steps and stays so")


class Going(NamedTuple):
    """A run that is about to take its first step, or its next.

    Attributes
    ----------
    folder
        On agent 0.
    upkeep
        Of its checkpoints.
    saved
        What this agent continues from.
    history
        For meta.json: when and from where the run was resumed.
    """

    folder: RunFolder | None
    upkeep: Upkeep
    saved: Saved | None
    history: list[dict[str, Any]]


def go(
    options: argparse.Namespace,
    beginning: Beginning,
    stage: Stage,
    engine: str,
    sentry: Sentry,
    watchdog: Watchdog,
) -> Going:
    """Make the run folder, or take up the run that is in it; collective."""
    collective, plan = stage.collective, beginning.plan
    folder: RunFolder | None = None
    with collective.agreed():
        if collective.agent == 0:
            if beginning.earlier is not None:
                folder = beginning.earlier.folder
            else:
                folder = RunFolder(options.out or default_path(plan.name))
    run = Path(collective.from_first(folder and str(folder.path.resolve())))
    found = newest(run, folder, collective)
    here = facts(collective, stage.neighbourhood, stage.data, stage.x0, engine)
    machines = collective.gather(machine())
    extended = False
    with collective.agreed():
        if found is not None:
            refuse(run, differing_facts(found.manifest.facts, here))
            if collective.agent == 0:
                extended = _is_extended(beginning, found)
    done: list[Finished] = []
    saved: Saved | None = None
    if found is not None:
        done, saved = _place(found, collective.from_first(extended))
    history: list[dict[str, Any]] = []
    if folder is not None:
        if beginning.earlier is not None:
            history = _history(folder.path)
            history.append(_tell(folder, found, machines, (len(done), saved)))
            _tell_untouched(plan, [_how_far(one) for one in done])
            folder.cut_metrics(0 if found is None else found.manifest.metrics[0])
            folder.forget_summary()
        assert beginning.resolved is not None
        folder.write_toml("config.toml", beginning.resolved)
    upkeep = Upkeep(
        Checkpoints(
            run,
            folder,
            collective,
            here,
            machines,
            finished=[] if found is None else found.manifest.finished[: len(done)],
            damaged=[] if found is None else list(found.damaged),
        ),
        plan.checkpoint,
        done,
        sentry,
        watchdog,
        deadline=inf if options.max_seconds is None else STARTED + options.max_seconds,
    )
    return Going(folder, upkeep, saved, history)


def _how_far(run: Finished) -> Done:
    return Done(run.label, run.status, run.steps, run.records[-1]["seconds"])


def _is_extended(beginning: Beginning, found: Found) -> bool:
    """Whether the algorithm that the checkpoint saw end has a longer budget now.

    A budget that is shorter than what is done is refused.
    """
    earlier, plan = beginning.earlier, beginning.plan
    assert earlier is not None
    assert earlier.config is not None
    assert beginning.resolved is not None
    number = found.manifest.algorithm
    far = [_how_far(run) for run in found.done]
    has_ended = len(far) > number
    if not has_ended:
        label = plan.algorithms[number].label
        far.append(Done(label, "interrupted", found.manifest.step, 0.0))
    refuse_shorter(earlier.folder.path, plan, far)
    now = beginning.resolved
    return has_ended and is_extended(earlier.config, now, plan, number, far[-1])


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
