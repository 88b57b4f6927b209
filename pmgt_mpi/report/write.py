"""Writing a report, pictures and page: once, or again and again while runs last."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from pmgt_mpi.errors import UserError
from pmgt_mpi.output.runs import EmptyRunError, Run, read_run
from pmgt_mpi.output.study import Study
from pmgt_mpi.pictures.curves import curves_of
from pmgt_mpi.terminal import say

SHARE = 0.2
"""Of the time that drawing may take while runs last: they need the cores more."""


def write_report(runs: Sequence[Run], out: Path, refresh: float | None = None) -> Path:
    """Write pictures and page to a folder; return the path of the page.

    Parameters
    ----------
    refresh
        Seconds after which a browser is to load the page again; None is never.
    """

    def fill(page: Path) -> None:
        from pmgt_mpi.pictures.pictures import draw_report
        from pmgt_mpi.report.page import write_page

        curves = curves_of(runs)
        write_page(page, runs, curves, draw_report(out, runs, curves), refresh)

    return _written(out, fill)


def write_study_report(study: Study, out: Path) -> Path:
    """Write pictures and page of a study to a folder; return the path of the page."""

    def fill(page: Path) -> None:
        from pmgt_mpi.pictures.bands import draw_study_report
        from pmgt_mpi.report.study_page import write_study_page

        write_study_page(page, study, draw_study_report(out, study.groups))

    return _written(out, fill)


def _written(out: Path, fill: Callable[[Path], None]) -> Path:
    """Write a page and its pictures to a folder, where that can be done."""
    page = out / "report.html"
    try:
        out.mkdir(parents=True, exist_ok=True)
        fill(page)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "matplotlib":
            raise
        raise UserError(
            "matplotlib is missing; install it (pip install 'pmgt_mpi[report]'), or "
            "take the table alone with --format"
        ) from None
    except OSError as error:
        raise UserError(
            f"cannot write the report to {out} ({error.strerror or error}); choose "
            "another folder with --out"
        ) from None
    return page


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


def not_a_link(folder: Path) -> Path:
    """Refuse the usual folder of a report where it leads elsewhere; give it back."""
    if folder.is_symlink():
        raise UserError(
            f"{folder} is a link, and the report would overwrite files where it leads; "
            "remove it, or choose a folder with --out"
        )
    return folder


def different(folders: Sequence[Path]) -> list[Path]:
    """Refuse a folder that is given twice, by whatever path."""
    seen: dict[Path, Path] = {}
    for folder in folders:
        same = seen.setdefault(folder.resolve(), folder)
        if same is not folder:
            raise UserError(
                f"{same} and {folder} are the same run folder; give it once"
            )
    return list(folders)
