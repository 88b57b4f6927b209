"""Writing a report: the pictures and the page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pmgt_mpi.errors import UserError
from pmgt_mpi.output.runs import Run
from pmgt_mpi.pictures.curves import curves_of


def write_report(runs: Sequence[Run], out: Path, refresh: float | None = None) -> Path:
    """Write pictures and page to a folder; return the path of the page.

    Parameters
    ----------
    refresh
        Seconds after which a browser is to load the page again; None is never.
    """
    try:
        from pmgt_mpi.pictures.pictures import draw_report
        from pmgt_mpi.report.page import write_page
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "matplotlib":
            raise
        raise UserError(
            "matplotlib is missing; install it (pip install 'pmgt_mpi[report]'), or "
            "take the table alone with --format"
        ) from None
    curves = curves_of(runs)
    page = out / "report.html"
    try:
        out.mkdir(parents=True, exist_ok=True)
        write_page(page, runs, curves, draw_report(out, runs, curves), refresh)
    except OSError as error:
        raise UserError(
            f"cannot write the report to {out} ({error.strerror or error}); choose "
            "another folder with --out"
        ) from None
    return page


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
