"""A series of runs on the same ranks, of which some may be done already.

Agent 0 knows which runs are wanted and which are done already; a generator there yields
the next `Job` and is sent its result. The other agents run what they are told to.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from dataclasses import replace
from typing import Any, NamedTuple

from pmgt_mpi.checkpoints.policy import Agreement, Unsaved
from pmgt_mpi.config.schema import Config
from pmgt_mpi.execution.algorithm import run_algorithm
from pmgt_mpi.execution.shared_setup import Ready, SetUps
from pmgt_mpi.mpi.collective import AgreedError
from pmgt_mpi.output.results import Finished, Record
from pmgt_mpi.output.series import REFUSED, Result, SeriesFolder
from pmgt_mpi.parameters.resolve import resolve
from pmgt_mpi.watchdog.watchdog import Watchdog


class Job(NamedTuple):
    """One run that is wanted.

    Attributes
    ----------
    key
        What it is known by in the folder of the series.
    config
        As asked, with one algorithm.
    beyond
        Says of a record whether the run is to end there, as it has cost too much.
    tags
        What its result says beside what came out.
    """

    key: str
    config: Config
    beyond: Callable[[Record], bool] | None = None
    tags: dict[str, Any] = {}  # noqa: RUF012 (nobody changes it)


COST = "round_in_gradients"
"""Of a result: what a round cost, where its parameters were chosen by that."""

Jobs = Generator[Job, Result, None]
"""Yields the runs that are wanted, and is sent the result of each."""


class Ending(Unsaved):
    """Ends a run for a signal, or where it has cost too much; nothing is saved.

    Attributes
    ----------
    reason
        Of the signal, if one has ended the run.
    spent
        Whether its cost has.
    """

    COST = "cost"

    def __init__(
        self,
        watchdog: Watchdog,
        label: str,
        beyond: Callable[[Record], bool] | None,
    ) -> None:
        super().__init__(watchdog, label)
        self._monitor, self._beyond = watchdog.monitor, beyond
        self.spent = False
        self.reason: str | None = None

    def watch(self, step: int, record: Record | None) -> None:
        """Look at a record, which is the same on every agent."""
        if record is not None and self._beyond is not None and step > 0:
            self.spent = self._beyond(record)

    def requests(self) -> tuple[bool, str | None]:
        """Why this agent wants to stop, if it does."""
        if self._monitor.asked is not None:
            return False, f"{self._monitor.asked}"
        return False, self.COST if self.spent else None

    def act_on(
        self,
        agreement: Agreement,
        step: int,  # noqa: ARG002
        state: Any,  # noqa: ARG002
        record: Record,  # noqa: ARG002
    ) -> bool:
        """Stop if an agent wants to."""
        if agreement.reason not in (None, self.COST):
            self.reason = agreement.reason
        return agreement.reason is not None


class Series:
    """Runs what is wanted and not yet done.

    Parameters
    ----------
    set_ups, watchdog
        What is set up, on all ranks, and what looks on.
    keep
        Returns what a result says of a run beside its tags; on agent 0.

    Attributes
    ----------
    refused
        Sentences of runs that could not be done as asked.
    """

    def __init__(
        self,
        set_ups: SetUps,
        watchdog: Watchdog,
        keep: Callable[[Finished, Ready], Result],
    ) -> None:
        self._set_ups, self._watchdog, self._keep = set_ups, watchdog, keep
        self.refused: list[str] = []

    def run(self, jobs: Jobs | None, folder: SeriesFolder | None) -> str | None:
        """Run the jobs; collective.

        Parameters
        ----------
        jobs, folder
            What is wanted, and where the results are kept; on agent 0.

        Returns
        -------
        str or None
            The signal that has interrupted the series, if one has.
        """
        everyone = self._set_ups.everyone
        job: Job | None = None
        result: Result | None = None
        while True:
            with everyone.agreed():
                if jobs is not None and folder is not None:
                    job = _with_cost(_next(jobs, folder, result), folder)
            job = everyone.from_first(job)
            if job is None:
                return None
            done, signal = self._run(job)
            with everyone.agreed():
                if folder is not None:
                    result = {**job.tags, **done}
                    if signal is not None or done["status"] == REFUSED:
                        folder.interrupt(job.key)
                    else:
                        folder.end(job.key, result)
            if signal is not None:
                return signal

    def _run(self, job: Job) -> tuple[Result, str | None]:
        """Run one; return what is kept of it, and the signal that has ended it."""
        try:
            ready, config = resolved(self._set_ups, job.config)
        except AgreedError as error:
            self.refused.append(str(error))
            return {"status": REFUSED, "why": str(error)}, None
        (section,) = config.algorithm
        ending = Ending(self._watchdog, section.label, job.beyond)
        self._watchdog.begin_algorithms()
        done = run_algorithm(
            ready.setup,
            config,
            section,
            ready.engine,
            watch=ending.watch,
            hooks=ending,
        )
        kept = {**self._keep(done, ready), COST: config.cost.round_in_gradients}
        return kept, ending.reason


def _with_cost(job: Job | None, folder: SeriesFolder) -> Job | None:
    """Return a job whose rounds cost what they cost the first that has measured it."""
    if job is None or job.config.cost.round_in_gradients != "auto":
        return job
    told = (result.get(COST) for result in folder.results.values())
    measured = next((c for c in told if isinstance(c, float)), None)
    if measured is None:
        return job
    cost = replace(job.config.cost, round_in_gradients=measured)
    return job._replace(config=replace(job.config, cost=cost))


def resolved(set_ups: SetUps, config: Config) -> tuple[Ready, Config]:
    """Do all that comes before the first step; what cannot be done is refused here."""
    ready = set_ups.ready(config)
    return ready, resolve(config, ready.setup, ready.engine)


def _next(jobs: Jobs, folder: SeriesFolder, result: Result | None) -> Job | None:
    """Return the next run that is not done; None at the end of the series."""
    while True:
        try:
            job = next(jobs) if result is None else jobs.send(result)
        except StopIteration:
            return None
        result = folder.results.get(job.key)
        if result is None:
            folder.begin(job.key, job.tags)
            return job


def with_stream(config: Config, stream: int) -> Config:
    """Return the same rows and network, with the chance of another seed."""
    seed, data, network = config.run.seed, config.data, config.network
    if data is not None:
        data = replace(data, seed=seed if data.seed is None else data.seed)
    return replace(
        config,
        run=replace(config.run, seed=stream),
        data=data,
        network=replace(network, seed=seed if network.seed is None else network.seed),
    )


def in_order(jobs: Iterable[Job]) -> list[Job]:
    """Put those beside each other that have the same rows, as far as that can be."""
    found: dict[str, list[Job]] = {}
    for job in jobs:
        data, run = job.config.data, job.config.run
        seed = run.seed if data is None or data.seed is None else data.seed
        found.setdefault(repr((data, seed, run.dtype)), []).append(job)
    return [job for same in found.values() for job in same]
