"""How a run starts: anew, or where an earlier one stopped."""

from __future__ import annotations

import argparse
import json
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

from pmgt_mpi.collective import Collective
from pmgt_mpi.runtime.checkpoint import Checkpoints
from pmgt_mpi.runtime.environment import STARTED
from pmgt_mpi.runtime.folder import RunFolder, default_path
from pmgt_mpi.runtime.identity import (
    changed_machines,
    differences,
    differing_facts,
    facts,
    machine,
)
from pmgt_mpi.runtime.keeper import Saved, Upkeep
from pmgt_mpi.runtime.plan import Plan
from pmgt_mpi.runtime.resume import (
    Earlier,
    check_agents,
    is_done,
    newest,
    open_earlier,
    read_plan,
    refuse,
    wanted_folder,
)
from pmgt_mpi.runtime.sentry import Sentry
from pmgt_mpi.runtime.stage import Stage
from pmgt_mpi.runtime.terminal import say
from pmgt_mpi.runtime.watchdog import Watchdog


class Beginning(NamedTuple):
    """What is known before the set-up.

    Attributes
    ----------
    plan
        The config after it has been checked.
    resolved
        The same as TOML values; on agent 0.
    earlier
        The run that is gone on with; on agent 0.
    exit_code
        If there is nothing to do.
    """

    plan: Plan
    resolved: dict[str, Any] | None
    earlier: Earlier | None
    exit_code: int | None


def begin(options: argparse.Namespace, first: Collective) -> Beginning:
    """Read the config on agent 0, and see whether there is a run to go on with.

    The folder of an earlier run is locked and held against the config before any data
    are read; the other agents get the plan.
    """
    told: tuple[Plan, int | None] | None = None
    resolved, earlier = None, None
    with first.agreed():
        if first.agent == 0:
            from pmgt_mpi.runtime.resolved import resolved_config

            plan = read_plan(options)
            resolved = resolved_config(plan)
            exit_code = None
            if (path := wanted_folder(options, plan.name)) is not None:
                earlier = open_earlier(path)
                if earlier.config is not None:
                    if plan.engine == "auto":  # goes on with the one that began
                        plan = plan._replace(
                            engine=earlier.config["run"].get("engine", "auto")
                        )
                        resolved = resolved_config(plan)
                    refuse(path, differences(earlier.config, resolved))
                    check_agents(earlier, first.agents)
                    exit_code = _done(earlier, plan, resolved)
            told = plan, exit_code
    told = first.from_first(told)
    assert told is not None
    return Beginning(told[0], resolved, earlier, told[1])


def _done(earlier: Earlier, plan: Plan, now: dict[str, Any]) -> int | None:
    """Give the exit code of a run that came to its end already."""
    if not is_done(earlier, plan, now):
        return None
    say(f"run folder: {earlier.folder.path} (finished already, nothing to do)")
    earlier.folder.close()
    statuses = [one["status"] for one in earlier.summary() or []]
    return 3 if "diverged" in statuses else 0


class Going(NamedTuple):
    """A run that is about to take its first step, or its next.

    Attributes
    ----------
    folder
        On agent 0.
    upkeep
        Of its checkpoints.
    saved
        What this agent goes on from.
    history
        For meta.json: when and from where the run was gone on with.
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
    here, machines = facts(stage, engine), collective.gather(machine())
    with collective.agreed():
        if found is not None:
            refuse(run, differing_facts(found.manifest.facts, here))
    history: list[dict[str, Any]] = []
    if folder is not None:
        if beginning.earlier is not None:
            history = _history(folder.path)
            history.append(_tell(folder, found, machines))
            folder.cut_metrics(0 if found is None else found.manifest.metrics[0])
            folder.forget_summary()
        assert beginning.resolved is not None
        folder.write_toml("config.toml", beginning.resolved)
    seals = [] if found is None else found.manifest.finished
    upkeep = Upkeep(
        Checkpoints(run, folder, collective, here, machines, seals),
        plan.checkpoint,
        [] if found is None else found.done,
        sentry,
        watchdog,
        deadline=inf if options.max_seconds is None else STARTED + options.max_seconds,
    )
    return Going(folder, upkeep, None if found is None else found.saved, history)


def _tell(folder: RunFolder, found: Any, machines: list[dict[str, Any]]) -> Any:
    """Tell the user where the run goes on, and what is not as it was."""
    if found is None:
        say(f"note: {folder.path} has no checkpoint; the run starts from the beginning")
        return {"algorithm": 0, "step": 0}
    for warning in found.warnings:
        say(f"warning: {warning}")
    changed = changed_machines(found.manifest.machines, machines)
    if changed:
        say(
            f"warning: {'; '.join(changed)}: the last bits may differ from those of a "
            "run that was not interrupted"
        )
    manifest = found.manifest
    say(
        f"going on with {folder.path} from checkpoint {manifest.number}: algorithm "
        f"{manifest.algorithm + 1}, step {manifest.step}"
    )
    return {"algorithm": manifest.algorithm, "step": manifest.step}


def _history(run: Path) -> list[dict[str, Any]]:
    """What meta.json tells of earlier times that the run was gone on with."""
    try:
        meta = json.loads((run / "meta.json").read_text())
        return list(meta["resumed"])
    except (OSError, ValueError, LookupError, TypeError):
        return []
