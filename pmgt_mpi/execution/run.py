"""What the run command does on every rank, and how it ends."""

from __future__ import annotations

import argparse
import time
from typing import Any

from pmgt_mpi.checkpoints.keeper import Keeper
from pmgt_mpi.checkpoints.resume import config_of
from pmgt_mpi.config.plan import Plan
from pmgt_mpi.environment import crowding, launched
from pmgt_mpi.execution.across import edges_across, traffic_across
from pmgt_mpi.execution.algorithm import execute, resolved
from pmgt_mpi.execution.engine import Engine, choose_engine
from pmgt_mpi.execution.requirements import refuse_idle
from pmgt_mpi.execution.setup import build_stage
from pmgt_mpi.execution.stage import Stage
from pmgt_mpi.execution.start import begin, go
from pmgt_mpi.mpi.collective import AgreedError, Collective
from pmgt_mpi.mpi.world import library, place, vendor
from pmgt_mpi.mpi.world import world as all_ranks
from pmgt_mpi.output.folder import RunFolder
from pmgt_mpi.output.meta import circumstances
from pmgt_mpi.output.results import Finished
from pmgt_mpi.terminal import Progress, complain, say
from pmgt_mpi.watchdog.guard import end_job
from pmgt_mpi.watchdog.signals import INTERRUPTED, Sentry
from pmgt_mpi.watchdog.watchdog import Watchdog

DIVERGED = 3
"""Exit code if an algorithm diverged."""

ROUGH_REFERENCE = 1e-10
"""Relative residual of the minimiser above which the user is told."""


def run_command(options: argparse.Namespace, sentry: Sentry) -> int:
    """Run a config on the world; return the exit code.

    Wrong input that all ranks have agreed on is told once, by the first. Anything else
    that goes wrong on one rank ends the job on all of them: the others would wait for
    its messages for ever.
    """
    world = all_ranks()
    sentry.abort = world.Abort
    try:
        check_world(world.size)
        return _run(options, world, sentry)
    except AgreedError as error:
        if world.rank == 0 and launched()[1] == 0:
            complain(error)
        return error.exit_code
    except BaseException as error:
        end_job(world, sentry.agent, error)
        raise


def check_world(size: int) -> None:
    """Refuse a world of 1 where the launcher started more: it is n jobs of size 1."""
    asked, _ = launched()
    if size == 1 and asked > 1:
        raise AgreedError(
            f"the launcher started {asked} ranks, but MPI sees a world of size 1: "
            "mpirun and mpi4py belong to different MPIs, or the program was started "
            "without mpirun or srun --mpi=pmix; use the mpirun of the environment in "
            "which mpi4py is installed"
        )


def _run(options: argparse.Namespace, world: Any, sentry: Sentry) -> int:
    start = time.perf_counter()
    first = Collective(world)
    beginning = begin(options, first)
    if beginning.exit_code is not None:
        return beginning.exit_code
    plan = beginning.plan
    watchdog = Watchdog(first, sentry, plan.timeout)
    engine = choose_engine(first, plan.engine)
    if beginning.resolved is not None:
        beginning.resolved["run"]["engine"] = engine.name
    stage = build_stage(plan, world)
    sentry.agent = stage.collective.agent
    watchdog.seat(stage.collective)
    places = stage.collective.gather(place())
    hosts = [host for host, _ in places]
    across = edges_across(stage, hosts)
    neighbours = stage.collective.gather(stage.neighbourhood.neighbours)
    with stage.collective.agreed():
        refuse_idle(plan.stop, stage)
    plan = plan._replace(algorithms=[resolved(stage, one) for one in plan.algorithms])
    if beginning.resolved is not None:
        for section, one in zip(
            beginning.resolved["algorithm"], plan.algorithms, strict=True
        ):
            if section.get("evaluate_every", plan.common.evaluate_every) == "auto":
                section["evaluate_every"] = one.evaluate_every
    going = go(options, beginning, stage, engine.name, sentry, watchdog)
    folder, upkeep = going.folder, going.upkeep
    meta: dict[str, Any] = {}
    if folder is not None:
        say(f"engine: {engine.name}" + (f", as {engine.why}" if engine.why else ""))
        if warning := crowding(places, vendor()):
            say(f"note: {warning}")
        if stage.epsilon_f is not None:
            say(
                f"note: for epsilon the algorithms minimise F(x) + (eps_f/2)‖x‖² with "
                f"eps_f = {stage.epsilon_f:.3g}; what is told is F"
            )
        if stage.reference is not None and stage.reference.residual > ROUGH_REFERENCE:
            say(
                f"note: the reference minimiser has a relative residual of "
                f"{stage.reference.residual:.1e}; smaller suboptimalities mean nothing"
            )
        meta.update(
            {
                **circumstances(library()),
                "hosts": hosts,
                "seed": plan.seed,
                "engine": engine.facts(stage.problem),
                "config": str(config_of(options).resolve()),
                "resumed": going.history,
                "setup_seconds": time.perf_counter() - start,
                "network": stage.network._asdict(),
                "neighbours": neighbours,
                "constants": stage.constants and stage.constants._asdict(),
                "epsilon_f": stage.epsilon_f,
                "rows": stage.rows,
                "reference_residual": stage.reference and stage.reference.residual,
                "across_hosts": {"edges": across},
            },
        )
        folder.write_json("meta.json", meta)
    saved = going.saved
    sentry.set_up = False
    for number in range(len(upkeep.done), len(plan.algorithms)):
        keeper = Keeper(upkeep, number, saved, plan.algorithms[number].label)
        upkeep.done.append(_execute(stage, plan, engine, number, folder, keeper))
        keeper.save_end()
        saved = None
        if upkeep.reason is not None:
            break
    finished = upkeep.done
    if folder is not None:
        meta["across_hosts"]["algorithms"] = [traffic_across(run) for run in finished]
        folder.write_json("meta.json", meta)
        _write_results(folder, stage, engine, finished)
    short = len(finished) < len(plan.algorithms)
    if upkeep.reason is not None and (short or finished[-1].status == "interrupted"):
        _tell_interrupted(folder, finished[-1], upkeep.reason)
        return INTERRUPTED
    if folder is not None:
        _draw(folder)
    diverged = any(run.status == "diverged" for run in finished)
    return DIVERGED if diverged else 0


def _tell_interrupted(folder: RunFolder | None, run: Finished, reason: str) -> None:
    if folder is not None:
        say(
            f"interrupted ({reason}) after step {run.steps} of {run.label}; continue "
            f"with --resume {folder.path}"
        )


def _execute(
    stage: Stage,
    plan: Plan,
    engine: Engine,
    number: int,
    folder: RunFolder | None,
    keeper: Keeper,
) -> Finished:
    """Run one algorithm; agent 0 writes down every record and shows the progress."""
    algorithm = plan.algorithms[number]
    progress = None
    if folder is not None:
        progress = Progress(algorithm.label, algorithm.steps)

    def watch(step: int, record: dict[str, Any] | None) -> None:
        if folder is not None and progress is not None:
            if record is not None:
                folder.record(record)
            progress.show(step, record)

    try:
        return execute(
            stage,
            algorithm,
            seed=plan.seed,
            stop=plan.stop,
            exchange=plan.network.exchange,
            engine=engine,
            watch=watch,
            tell=lambda note: say(f"note: {note}") if folder is not None else None,
            with_bound=plan.theory_bound,
            keeping=keeper,
        )
    finally:
        if progress is not None:
            progress.close()


def _write_results(
    folder: RunFolder, stage: Stage, engine: Engine, finished: list[Finished]
) -> None:
    """Write what is known at the end, and tell the user."""
    from pmgt_mpi.output.table import summary_table

    summaries = [
        {
            **run.records[-1],
            "name": run.name,
            "status": run.status,
            "ranks": stage.collective.agents,
            "engine": engine.name,
            "lambda_2": stage.network.lambda_2,
            "parameters": run.parameters,
            "notes": run.notes,
            **({} if run.advice is None else {"advice": run.advice}),
        }
        for run in finished
    ]
    folder.write_csv("ranks.csv", [row for run in finished for row in run.ranks])
    edges = [row for run in finished for row in run.edges]
    if edges:
        folder.write_csv("edges.csv", edges)
    solutions: dict[str, Any] = {}
    for run in finished:
        solutions[run.label] = run.x
        solutions[f"{run.label}/agents"] = run.x_agents
    if stage.reference is not None:
        solutions["reference"] = stage.reference.x
    folder.write_solutions(solutions)
    folder.write_json("summary.json", summaries)  # last: with it the run is done
    folder.close()
    say(summary_table(summaries))
    for run in finished:
        if run.advice is not None:
            say(run.advice)
    say(f"run folder: {folder.path}")


def _draw(folder: RunFolder) -> None:
    """Draw the picture, if that can be done; the results are there without it."""
    try:
        from pmgt_mpi.pictures.plot import plot_run

        say(f"plot: {plot_run(folder.path)}")
    except ModuleNotFoundError as error:
        if error.name != "matplotlib":
            raise
        say("no plot: matplotlib is missing (pip install 'pmgt_mpi[report]')")
    except Exception as error:  # of matplotlib, of fonts, of the disk
        say(f"no plot: {folder.path}: {type(error).__name__}: {error}")
