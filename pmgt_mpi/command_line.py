"""Reading a command line that every rank is given: one speaks, all end together."""

from __future__ import annotations

import argparse
import sys
from typing import Any, NoReturn

from pmgt_mpi.environment import launched, prepare


class Parser(argparse.ArgumentParser):
    """Speaks on the first rank only; every rank reads the same command line."""

    def _print_message(self, message: str, file: object = None) -> None:
        if launched()[1] == 0:
            super()._print_message(message, file)  # type: ignore[arg-type]

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        """End all ranks together; every rank comes here or none does."""
        if message:
            self._print_message(message, sys.stderr)
        if status != 0 and launched()[0] > 1:
            sys.stderr.flush()
            prepare()
            from pmgt_mpi.mpi.ending import leave

            status = leave(status)
        sys.exit(status)


class ListAction(argparse.Action):
    """Print what a config may name, and end; like --help it needs no config."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        """Only the rank that speaks imports what is registered."""
        if launched()[1] == 0:
            prepare()
            from pmgt_mpi.config.listing import listing

            parser._print_message(listing(), sys.stdout)
        parser.exit()
