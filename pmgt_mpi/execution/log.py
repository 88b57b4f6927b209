"""What a run tells on its way: nothing, or a run folder, the terminal and a picture."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pmgt_mpi.checkpoints.policy import Checkpointer, Policy, Unsaved
from pmgt_mpi.checkpoints.store import Checkpoints
from pmgt_mpi.config.schema import Config
from pmgt_mpi.config.sections import AlgorithmSection
from pmgt_mpi.execution.folder import Folder, Past, say_note
from pmgt_mpi.execution.setup import Setup
from pmgt_mpi.output.folder import RunFolder
from pmgt_mpi.output.results import (
    Finished,
    Record,
    traffic_across_hosts,
    write_results,
)
from pmgt_mpi.terminal import Progress, say
from pmgt_mpi.watchdog.watchdog import Watchdog

Watch = Callable[[int, Record | None], None]


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


class FolderLog(Log):
    """Writes records and results to a run folder, and checkpoints; collective.

    Parameters
    ----------
    folder, checkpoints
        Where everything goes.
    past, meta
        What an earlier part of the run has left, and what meta.json holds.
    config, setup
        The resolved config, and what is run.
    watchdog
        Looks on, and knows of signals.
    """

    def __init__(
        self,
        folder: Folder,
        checkpoints: Checkpoints,
        past: Past,
        meta: dict[str, Any],
        config: Config,
        setup: Setup,
        watchdog: Watchdog,
    ) -> None:
        super().__init__(watchdog)
        self._folder, self._meta = folder.files, meta
        self._config, self._setup = config, setup
        self.done, self._saved = past.done, past.saved
        monitor = watchdog.monitor
        cadence = config.checkpoint
        self._policy = Policy(checkpoints, cadence, self.done, monitor, watchdog)
        if self._folder is not None and past.saved is None:
            self._folder.take_up()  # else the state that was saved may be refused yet

    def hooks(self, number: int, section: AlgorithmSection) -> Checkpointer:
        """Return what writes the checkpoints of an algorithm."""
        saved, self._saved = self._saved, None
        return Checkpointer(self._policy, number, saved, section.label)

    @contextmanager
    def progress(self, section: AlgorithmSection, steps: int) -> Iterator[Watch]:
        """Write down every record of an algorithm, and show how far it is."""
        if self._folder is None:
            with super().progress(section, steps) as unseen:
                yield unseen
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
            say_note(text)

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
            "engine": self._config.run.engine,
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


def draw(folder: RunFolder) -> None:
    """Draw the picture, if that can be done; the results are there without it."""

    def plot() -> list[Path]:
        from pmgt_mpi.pictures.plot import plot_run

        return [plot_run(folder.path)]

    try_to_draw(plot, folder.path)


def try_to_draw(plot: Callable[[], list[Path]], folder: Path) -> None:
    """Draw, and say where the pictures are, or why there are none."""
    try:
        for path in plot():
            say(f"plot: {path}")
    except ModuleNotFoundError as error:
        if error.name != "matplotlib":
            raise
        say("no plot: matplotlib is missing (pip install 'pmgt_mpi[report]')")
    except Exception as error:  # of matplotlib, of fonts, of the disk
        say(f"no plot: {folder}: {type(error).__name__}: {error}")
