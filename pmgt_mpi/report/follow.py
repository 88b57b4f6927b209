"""Drawing a report again and again while its runs last."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from pmgt_mpi.output.runs import EmptyRunError, Run, read_run
from pmgt_mpi.report.write import write_report
from pmgt_mpi.terminal import say

SHARE = 0.2
"""Of the time that drawing may take: the runs need the cores more."""


def follow(folders: Sequence[Path], out: Path, every: float) -> None:
    """Write the report whenever there is something new, until all runs have ended.

    Parameters
    ----------
    every
        Seconds between two looks. Where drawing takes long, not every look leads to a
        new page; the end of the runs always does.
    """
    drawn: object = None
    waiting, rest = False, 0.0
    while True:
        try:
            runs = [read_run(path) for path in folders]
        except EmptyRunError as error:
            if error.killed:
                raise
            if not waiting:
                say(f"waiting: {error}")
            waiting = True
            time.sleep(every)
            continue
        over = all(run.ended or run.killed for run in runs)
        news = (over, [_length(run) for run in runs])
        if news != drawn and (over or time.monotonic() >= rest):
            start = time.monotonic()
            page = write_report(runs, out, refresh=None if over else every)
            if drawn is None and not over:
                say(f"report: {page} (drawn again until the run ends; Ctrl-C stops)")
            drawn = news
            rest = time.monotonic() + (time.monotonic() - start) / SHARE
        if over:
            say(f"report: {page}")
            for run in runs:
                if run.killed:
                    say(f"note: {run.path} ended without a summary: it was killed")
            return
        time.sleep(every)


def _length(run: Run) -> tuple[int, bool]:
    return sum(map(len, run.traces.values())), run.ended
