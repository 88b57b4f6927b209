"""The command: ``python -m pmgt_mpi.report RUN_FOLDER…``."""

from __future__ import annotations

import argparse
from pathlib import Path

from pmgt_mpi.errors import UserError
from pmgt_mpi.output.runs import read_run
from pmgt_mpi.output.study import is_study, read_study
from pmgt_mpi.output.study_tables import FORMATS as STUDY_FORMATS
from pmgt_mpi.pictures.curves import curves_of
from pmgt_mpi.report.formats import FORMATS
from pmgt_mpi.report.targets import require_reached
from pmgt_mpi.report.write import (
    different,
    follow,
    not_a_link,
    write_report,
    write_study_report,
)
from pmgt_mpi.terminal import command, complain, say, write
from pmgt_mpi.version import __version__

DESCRIPTION = """\
Report one run, or compare several: a page that needs nothing else (report.html), with
the curves, the cost to reach 1e-2, 1e-4 …, the gossip graph, the time of each rank and
the config, and every picture as PNG and SVG. No MPI is needed, and the run may still be
at work.

  python -m pmgt_mpi.report runs/quickstart-20261118-041002
  python -m pmgt_mpi.report runs/one runs/two --out comparison
  python -m pmgt_mpi.report runs/one --format markdown

The folder of a study (pmgt_mpi.study) is reported as one thing: bands, the table of
medians and quartiles, and the ratios.
"""

EPILOG = "exit codes: 0 done; 2 wrong input, such as a folder that is broken."


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m pmgt_mpi.report",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folders", metavar="RUN_FOLDER", type=Path, nargs="+")
    parser.add_argument(
        "--out",
        metavar="DIR",
        type=Path,
        help="where the page and the pictures go (default: the folder report in the "
        "run folder; of several runs, in the current folder)",
    )
    parser.add_argument(
        "--format",
        choices=FORMATS,
        help="print the table of costs alone, and draw nothing",
    )
    parser.add_argument(
        "--follow",
        action="store_true",
        help="draw again while they run, until all have ended",
    )
    parser.add_argument(
        "--every",
        metavar="SECONDS",
        type=float,
        default=5.0,
        help="with --follow: seconds between two looks (default: 5)",
    )
    parser.add_argument("--version", action="version", version=__version__)
    options = parser.parse_args(arguments)
    if not options.every > 0:
        parser.error(f"--every {options.every:g}: expected a number above 0")
    if options.format and options.follow:
        parser.error("--follow draws, and --format does not: choose one of them")
    return options


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return the exit code."""
    options = parse(arguments)
    try:
        folders = different(options.folders)
        if any(map(is_study, folders)):
            report_study(folders, options)
            return 0
        if options.format:
            rows = require_reached(curves_of([read_run(path) for path in folders]))
            write(FORMATS[options.format](rows))
            return 0
        single = folders[0] / "report" if len(folders) == 1 else Path("report")
        out = options.out or not_a_link(single)
        if options.follow:
            follow(folders, out, options.every)
        else:
            page = write_report([read_run(path) for path in folders], out)
            say(f"report: {page}")
    except UserError as error:
        return complain(error)
    except KeyboardInterrupt:
        return 130
    return 0


def report_study(folders: list[Path], options: argparse.Namespace) -> None:
    """Report a study, which is one thing: its runs are drawn together."""
    if len(folders) > 1 or options.follow:
        one = next(path for path in folders if is_study(path))
        raise UserError(
            f"{one} is a study, which is reported by itself and without --follow; "
            "name it alone"
        )
    study = read_study(folders[0])
    if options.format:
        write(STUDY_FORMATS[options.format](study.groups))
        return
    out = options.out or not_a_link(folders[0] / "report")
    say(f"report: {write_study_report(study, out)}")


if __name__ == "__main__":
    command(main)
