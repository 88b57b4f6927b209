"""The command: ``python -m pmgt_mpi.plan --config FILE --ranks 10000 …``."""

from pmgt_mpi.environment import prepare
from pmgt_mpi.terminal import command


def run() -> int:
    """Run the command; return the exit code."""
    prepare()
    # Only now: numpy and MPI look at the environment when they are imported.
    from pmgt_mpi.plan.command import main

    return main()


if __name__ == "__main__":
    command(run)
