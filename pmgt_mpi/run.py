"""The command: ``mpirun -n m python -m pmgt_mpi.run --config FILE``."""

from __future__ import annotations

from pmgt_mpi.command_line import parse
from pmgt_mpi.entrance import Work, enter
from pmgt_mpi.terminal import command


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return the exit code."""
    return enter(parse, _load, arguments)


def _load() -> Work:
    from pmgt_mpi.execution.command import run_command

    return run_command


if __name__ == "__main__":
    command(main)
