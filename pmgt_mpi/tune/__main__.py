"""The command: ``mpirun -n m python -m pmgt_mpi.tune --config FILE``."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from pmgt_mpi.command_line import Parser, as_it_is, positive, read_options
from pmgt_mpi.entrance import Work, enter
from pmgt_mpi.terminal import command
from pmgt_mpi.version import __version__

DESCRIPTION = """\
Look for the parameters of every algorithm of a config that reach its goal at the least
cost, in one job: rows, constants and minimiser are set up once. Every algorithm gets as
many trials, in ranges about its own choice, with the same largest budget. It leaves
trials.csv, a picture (cost over each parameter) and best.toml, a config to run.

  mpirun -n 4 python -m pmgt_mpi.tune --config configs/quickstart.toml --trials 64
  mpirun -n 4 python -m pmgt_mpi.tune --config configs/quickstart.toml \\
      --cost "gradients + 10*rounds" --range nids.step_size=0.01,1 --out tuning

Given again with the same --out it does what is missing.
"""

EPILOG = """\
exit codes: 0 done; 1 a rank or a disk failed; 2 wrong input; 4 an agent was stuck; 75
  interrupted: give the same command again, with --out.
A run that has ended the whole job twice is left out and marked as failed.
"""


def parse(
    arguments: list[str] | None, leave: Callable[[int], int] = as_it_is
) -> argparse.Namespace:
    """Read the command line."""
    parser = Parser(
        leave,
        prog="python -m pmgt_mpi.tune",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--config", metavar="FILE", type=Path, required=True, help="TOML file")
    add(
        "--trials",
        metavar="N",
        type=int,
        default=64,
        help="of each algorithm, beside the config's own values (64)",
    )
    add(
        "--budget",
        metavar="COST",
        type=positive,
        help="largest cost of one run (default: what the dearest of the config's own "
        "values costs)",
    )
    add(
        "--cost",
        metavar="FORMULA",
        help="sums of gradients, gradients_paper, rounds, messages, bytes and seconds, "
        "with factors (default: gradients + c*rounds with c of [cost])",
    )
    add(
        "--streams",
        metavar="K",
        type=int,
        default=3,
        help="runs of each trial, with the same rows and network (3)",
    )
    add(
        "--judge",
        choices=("median", "worst"),
        default="median",
        help="by which of its runs a trial is judged (median)",
    )
    add(
        "--search",
        choices=("halving", "grid"),
        default="halving",
        help="quasi-random trials with a ninth of the budget, of which the best third "
        "gets more, twice; or a lattice, all of it with the whole budget",
    )
    add(
        "--range",
        metavar="[LABEL.]PARAMETER=LOW,HIGH",
        action="append",
        default=[],
        help="of a parameter, in place of the range about the method's own choice",
    )
    add(
        "--set",
        metavar="SECTION.KEY=VALUE",
        action="append",
        default=[],
        help="override a key of the config, as in pmgt_mpi.run",
    )
    add(
        "--out",
        metavar="DIR",
        type=Path,
        help="folder of the tuning, made or continued (default: a new "
        "runs/NAME-tuning-DATE-TIME)",
    )
    add("--allow-plugins", action="store_true", help="as in pmgt_mpi.run")
    add("--version", action="version", version=__version__)
    return read_options(parser, arguments, check)


def check(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """Refuse numbers that make no tuning."""
    for name in ("trials", "streams"):
        if getattr(options, name) < 1:
            parser.error(f"--{name} {getattr(options, name)}: expected 1 or more")


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return the exit code."""
    return enter(parse, _load, arguments)


def _load() -> Work:
    from pmgt_mpi.tune.command import tune_command

    return tune_command


if __name__ == "__main__":
    command(main)
