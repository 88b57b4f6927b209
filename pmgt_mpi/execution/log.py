"""What a run tells on its way: nothing, or a run folder, the terminal and a picture."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pmgt_mpi.checkpoints.identity import facts, machine
from pmgt_mpi.checkpoints.policy import Checkpointer, Policy, Saved, Unsaved
from pmgt_mpi.checkpoints.store import Checkpoints
from pmgt_mpi.config.schema import AlgorithmSection, Config
from pmgt_mpi.environment import crowding
from pmgt_mpi.execution.engine import Engine
from pmgt_mpi.execution.setup import Setup
from pmgt_mpi.mpi.world import library, place, vendor
from pmgt_mpi.output.folder import RunFolder, default_path
from pmgt_mpi.output.meta import circumstances
from pmgt_mpi.output.results import (
    Finished,
    Record,
    traffic_across_hosts,
    write_results,
)
from pmgt_mpi.terminal import Progress, say
from pmgt_mpi.watchdog.watchdog import Watchdog

if TYPE_CHECKING:
    from pmgt_mpi.checkpoints.earlier import Earlier

Watch = Callable[[int, Record | None], None]

ROUGH_REFERENCE = 1e-10
"""Relative residual of the minimiser above which the user is told."""


class Log:
    """Tells nothing and saves nothing: what `solve` has.

    Attributes
    ----------
    done
        The algorithms that are done.
    reason
        Why the run was interrupted, if it was.
    """

    reason: str | None = None

    def __init__(self, watchdog: Watchdog) -> None:
        self.done: list[Finished] = []
        self._watchdog = watchdog

    def hooks(self, number: int, section: AlgorithmSection) -> Unsaved:  # noqa: ARG002
        """Return what the loop of an algorithm calls on its way."""
        return Unsaved(self._watchdog, section.label)

    @contextmanager
    def progress(self, section: AlgorithmSection, steps: int) -> Iterator[Watch]:  # noqa: ARG002
        """Return what is told of every record of an algorithm."""
        yield lambda step, record: None  # noqa: ARG005

    def tell(self, text: str) -> None:
        """Say something to the user."""

    def finish(self, *, short: bool) -> None:
        """Write the results.

        Parameters
        ----------
        short
            Whether there are algorithms that have not been run.
        """

    @property
    def interrupted(self) -> bool:
        """Whether the run is to end before its next algorithm."""
        return False


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


class FolderLog(Log):
    """Writes a run folder, a new one or that of a run that continues; collective.

    Parameters
    ----------
    output
        What is wanted.
    config, setup, engine
        The resolved config, and what is run.
    watchdog
        Looks on, and knows of signals.
    """

    def __init__(
        self,
        output: Output,
        config: Config,
        setup: Setup,
        engine: Engine,
        watchdog: Watchdog,
    ) -> None:
        super().__init__(watchdog)
        self._setup, self._engine = setup, engine
        collective = setup.collective
        here = facts(
            collective, setup.neighbourhood, setup.digest, setup.x0, engine.name
        )
        machines = collective.gather(machine())
        places = collective.gather(place())
        neighbours = collective.gather(setup.neighbourhood.neighbours)
        self._folder = self._open(output, config.run.name)
        path = None if self._folder is None else str(self._folder.path.resolve())
        run = Path(collective.from_first(path))
        self._saved: Saved | None = None
        history: list[dict[str, Any]] = []
        checkpoints = Checkpoints(run, self._folder, collective, here, machines)
        if output.resumes:
            from pmgt_mpi.checkpoints.resume import reopen

            resumed = reopen(run, output.earlier, config, collective, here, machines)
            self.done, self._saved = resumed.done, resumed.saved
            history = resumed.history
            checkpoints.take_over(resumed.finished, resumed.damaged)
        self._policy = Policy(
            checkpoints,
            config.checkpoint,
            self.done,
            watchdog.monitor,
            watchdog,
        )
        self._meta: dict[str, Any] = {}
        if self._folder is not None:
            from pmgt_mpi.config.write import toml_values

            assert output.asked is not None
            self._folder.write_toml("asked.toml", toml_values(output.asked))
            self._folder.write_toml("config.toml", toml_values(config))
            self._meta = {
                **circumstances(library()),
                "hosts": [host for host, _ in places],
                "seed": config.run.seed,
                "engine": engine.facts(setup.problem),
                "config": str(output.config_path.resolve()),
                "resumed": history,
                "setup_seconds": time.monotonic() - output.started,
                **_meta_of(setup, [host for host, _ in places], neighbours),
            }
            self._folder.write_json("meta.json", self._meta)
            self._tell_set_up(places)

    def _open(self, output: Output, name: str) -> RunFolder | None:
        """Make the run folder, or take the one that is continued; on agent 0."""
        collective, folder = self._setup.collective, None
        with collective.agreed():
            if collective.agent == 0:
                if output.earlier is not None:
                    folder = output.earlier.folder
                else:
                    folder = RunFolder(output.path or default_path(name))
        return folder

    def _tell_set_up(self, places: list[Any]) -> None:
        """Say what the user should know before the first step."""
        engine, setup = self._engine, self._setup
        say(f"engine: {engine.name}" + (f", as {engine.why}" if engine.why else ""))
        if warning := crowding(places, vendor()):
            self.tell(warning)
        if setup.epsilon_f is not None:
            self.tell(
                f"for epsilon the algorithms minimise F(x) + (eps_f/2)‖x‖² with "
                f"eps_f = {setup.epsilon_f:.3g}; what is told is F"
            )
        if setup.reference is not None and setup.reference.residual > ROUGH_REFERENCE:
            self.tell(
                f"the reference minimiser has a relative residual of "
                f"{setup.reference.residual:.1e}; smaller suboptimalities mean nothing"
            )

    def hooks(self, number: int, section: AlgorithmSection) -> Checkpointer:
        """Return what writes the checkpoints of an algorithm."""
        saved, self._saved = self._saved, None
        return Checkpointer(self._policy, number, saved, section.label)

    @contextmanager
    def progress(self, section: AlgorithmSection, steps: int) -> Iterator[Watch]:
        """Write down every record of an algorithm, and show how far it is."""
        if self._folder is None:
            with super().progress(section, steps) as nothing:
                yield nothing
            return
        folder, bar = self._folder, Progress(section.label, steps)

        def watch(step: int, record: Record | None) -> None:
            if record is not None:
                folder.record(record)
            bar.show(step, record)

        try:
            yield watch
        finally:
            bar.close()

    def tell(self, text: str) -> None:
        """Say something to the user; agent 0 does."""
        if self._folder is not None:
            say(f"note: {text}")

    def finish(self, *, short: bool) -> None:
        """Write the results, and draw the picture of a run that came to its end."""
        last = self.done[-1]
        if short or last.status == "interrupted":
            self.reason = self._policy.reason
        if self._folder is None:
            return
        traffic = [traffic_across_hosts(run) for run in self.done]
        self._meta["across_hosts"]["algorithms"] = traffic
        self._folder.write_json("meta.json", self._meta)
        setup = self._setup
        common = {
            "ranks": setup.collective.agents,
            "engine": self._engine.name,
            "lambda_2": setup.network.lambda_2,
        }
        minimiser = setup.reference and setup.reference.x
        write_results(self._folder, self.done, common, minimiser)
        if self.reason is None:
            draw(self._folder)
        else:
            say(
                f"interrupted ({self.reason}) after step {last.steps} of {last.label}; "
                f"continue with --resume {self._folder.path}"
            )

    @property
    def interrupted(self) -> bool:
        """Whether the run is to end before its next algorithm."""
        return self._policy.reason is not None


def _meta_of(
    setup: Setup, hosts: list[str], neighbours: list[tuple[int, ...]]
) -> dict[str, Any]:
    """What meta.json tells of the set-up."""
    ends = [hosts[i] != hosts[j] for i, row in enumerate(neighbours) for j in row]
    return {
        "network": setup.network._asdict(),
        "neighbours": neighbours,
        "constants": setup.constants and setup.constants._asdict(),
        "epsilon_f": setup.epsilon_f,
        "rows": setup.rows,
        "reference_residual": setup.reference and setup.reference.residual,
        "across_hosts": {"edges": sum(ends) // 2},
    }


def draw(folder: RunFolder) -> None:
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
