"""The command line under mpirun: every rank is given it, and one speaks."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from math import inf
from pathlib import Path
from typing import Any, NoReturn

from pmgt_mpi.environment import launched, prepare
from pmgt_mpi.terminal import write
from pmgt_mpi.version import __version__

Check = Callable[[argparse.ArgumentParser, argparse.Namespace], None]

DESCRIPTION = """\
Run decentralized optimization: every MPI rank is one agent, holds its own rows of the
data and talks to its neighbours in the gossip graph.

  mpirun -n 4 python -m pmgt_mpi.run --config configs/quickstart.toml
  mpirun -n 4 python -m pmgt_mpi.run --config configs/quickstart.toml \\
      --set stop.steps=10 --set algorithm.0.step_size=0.2 --out runs/try

Without mpirun it runs with a single agent. With more ranks than cores Open MPI asks for
mpirun --oversubscribe; as root for OMPI_ALLOW_RUN_AS_ROOT=1 and
OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1. launch/local.sh sets all of this.
"""

EPILOG = """\
exit codes: 0 done; 1 a rank or a disk failed; 2 wrong input; 3 an algorithm diverged;
  4 an agent was stuck, and the others have waited for it; 75 interrupted: continue with
  --resume.
signals: USR1 to mpirun, or TERM, INT or USR1 to a rank, end the run with a checkpoint
  after the step that runs; a second one ends it at once.
The config's keys are explained in docs/configuration.md and in the files of configs/;
--list says what they may name.
"""


def positive(text: str) -> float:
    """Read a number of seconds."""
    number = float(text)
    if not 0 < number < inf:
        raise ValueError
    return number


def as_it_is(code: int) -> int:
    """Let this rank end by itself."""
    return code


def parse(
    arguments: list[str] | None, leave: Callable[[int], int] = as_it_is
) -> argparse.Namespace:
    """Read the command line.

    Parameters
    ----------
    arguments
        Those of the process, if None.
    leave
        Ends all ranks together where one refuses, all having read the same; returns
        the exit code of this one.
    """
    parser = Parser(
        leave,
        prog="python -m pmgt_mpi.run",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--config",
        metavar="FILE",
        type=Path,
        help="TOML file to run; with --resume RUN_FOLDER by default that of the folder",
    )
    parser.add_argument(
        "--set",
        metavar="SECTION.KEY=VALUE",
        action="append",
        default=[],
        help="override a key of the config; algorithms by number: "
        "algorithm.0.step_size=0.2",
    )
    parser.add_argument(
        "--out",
        metavar="DIR",
        type=Path,
        help="run folder to make (default: runs/NAME-DATE-TIME)",
    )
    parser.add_argument(
        "--resume",
        metavar="RUN_FOLDER",
        help="resume the run in this folder from its last checkpoint; 'auto': with "
        "the one in --out (or the newest unfinished one of this name in runs), if "
        "there is one, else start",
    )
    parser.add_argument(
        "--max-seconds",
        metavar="SECONDS",
        type=positive,
        help="stop with a checkpoint and exit code 75 before so many seconds since the "
        "start are over, judging from past steps whether the next still fits",
    )
    parser.add_argument(
        "--allow-plugins",
        action="store_true",
        help="let the config name classes of your own as module:Class, and run them",
    )
    parser.add_argument(
        "--list",
        action=ListAction,
        nargs=0,
        help="list algorithms, problems, regularizers, graphs, weights, mixings and "
        "readers, and exit",
    )
    parser.add_argument("--version", action="version", version=__version__)
    return read_options(parser, arguments, check_together)


def read_options(
    parser: argparse.ArgumentParser, arguments: list[str] | None, check: Check
) -> argparse.Namespace:
    """Read the options on every rank: all read the same, and the first one speaks."""
    with ExitStack() as silent:
        if launched()[1] > 0:
            nowhere = silent.enter_context(Path(os.devnull).open("w"))
            silent.enter_context(redirect_stdout(nowhere))
            silent.enter_context(redirect_stderr(nowhere))
        options = parser.parse_args(arguments)
        check(parser, options)
    return options


class Parser(argparse.ArgumentParser):
    """A parser that lets all ranks end together where one refuses."""

    def __init__(self, leave: Callable[[int], int], **options: Any) -> None:
        super().__init__(**options)
        self._leave = leave

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        """End all ranks together; every rank comes here or none does."""
        if message:
            sys.stderr.write(message)
        if status != 0 and launched()[0] > 1:
            sys.stderr.flush()
            status = self._leave(status)
        sys.exit(status)


class ListAction(argparse.Action):
    """Print what a config may name, and end; like --help it needs no config."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        """Only the rank that speaks imports what is registered."""
        if launched()[1] == 0:
            prepare()
            from pmgt_mpi.config.listing import listing

            write(listing())
        parser.exit()


def check_together(
    parser: argparse.ArgumentParser, options: argparse.Namespace
) -> None:
    """Refuse options that are right by themselves and not together."""
    if options.config is None and options.resume in (None, "auto"):
        parser.error("the following arguments are required: --config")
    if options.out is not None and options.resume not in (None, "auto"):
        parser.error("--resume RUN_FOLDER names the folder; omit --out")
